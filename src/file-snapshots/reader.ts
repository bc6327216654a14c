// Reading files in bulk: what each one is, its name in git, its bytes as entries of a pack. The second thread is reader-main.ts.
import { hash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { crc32 } from "node:zlib";
import { errorCode } from "../ledger/guards.ts";

/** Files by folder: `names` are those of the first folder, then of the next. */
export interface ReadJob {
  folders: { full: string; count: number }[];
  names: string[];
  max: number;
  /** Whether the bytes are wanted too. */
  keep: boolean;
  /** Where the bytes may go; it goes with them. */
  room?: ArrayBuffer;
}

/** The next `count` files of a job. Contract: nothing in it is used again by the reader. */
export interface ReadChunk {
  count: number;
  /** When the first of them was opened. */
  at: number;
  /** `NUMBERS` a file, at the places of `AT`. */
  numbers: Float64Array<ArrayBuffer>;
  /** 40 digits a file. */
  oids: string;
  /** The entries, one behind the other. */
  entries?: Uint8Array<ArrayBuffer>;
}

/** Where the numbers of a file stand. `mode`: its permission bits; `crc` and `length`: of its entry. */
export const AT = { outcome: 0, mode: 1, size: 2, mtimeMs: 3, ctimeMs: 4, ino: 5, crc: 6, length: 7 } as const;
export const NUMBERS = Object.keys(AT).length;
export const OUTCOME = { read: 0, gone: 1, odd: 2, big: 3, unreadable: 4 } as const;

export interface Reader {
  /** `each` sees every content while it lasts: until the next one. */
  read(job: ReadJob, from: number, each?: (content: Buffer, oid: string) => void): ReadChunk;
  /** Contract: the bytes are overwritten by the next call; undefined when there are more than `max`. Never a link, never waits for a FIFO. */
  readOne(file: string | Buffer, max: number): { content: Buffer; oid: string } | undefined;
  /** An entry of a pack whose zlib stream holds the content as it is. `type`: 2 tree, 3 blob. */
  framed(type: number, content: Uint8Array): Buffer;
}

let ours: Reader | undefined;

/** The one of this thread. */
export function thisReader(): Reader {
  ours ??= createReader();
  return ours;
}

const CHUNK_BYTES = 1 << 20;
/** The longest block of a zlib stream that is not compressed. */
const BLOCK_BYTES = 65_535;
/** Room for the head that git hashes in front of a content. */
const HEAD_ROOM = 32;

/** Of a file that was read. */
function putStat(numbers: Float64Array, n: number, stat: Stats): void {
  numbers[n + AT.outcome] = OUTCOME.read;
  numbers[n + AT.mode] = stat.mode & 0o777;
  numbers[n + AT.size] = stat.size;
  numbers[n + AT.mtimeMs] = stat.mtimeMs;
  numbers[n + AT.ctimeMs] = stat.ctimeMs;
  numbers[n + AT.ino] = stat.ino;
}

function createReader(): Reader {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const proc = existsSync("/proc/self/fd");
  const atSystem = (raw: string) => (/[^\x00-\x7f]/.test(raw) ? Buffer.from(raw, "latin1") : raw);
  let room = Buffer.allocUnsafeSlow(256 << 10);

  /** The end of what was read into `room`; 0: there is more than `max`. */
  function fill(fd: number, size: number, max: number): number {
    if (room.length <= HEAD_ROOM + size) room = Buffer.allocUnsafeSlow(Math.max(HEAD_ROOM + size + 1, room.length * 2));
    for (let end = HEAD_ROOM; ; ) {
      const n = readSync(fd, room, end, room.length - end, null);
      end += n;
      // As long as it was when it was looked at: what came since is a later state.
      if (n === 0 || end - HEAD_ROOM === size) return end;
      if (end - HEAD_ROOM > max) return 0;
      if (end === room.length) room = Buffer.concat([room], room.length * 2);
    }
  }

  function oidOf(end: number): string {
    const head = `blob ${end - HEAD_ROOM}\0`;
    room.write(head, HEAD_ROOM - head.length, "latin1");
    return hash("sha1", room.subarray(HEAD_ROOM - head.length, end), "hex");
  }

  function adler32(bytes: Uint8Array): number {
    let a = 1;
    let b = 0;
    for (let i = 0; i < bytes.length; ) {
      const end = Math.min(i + 3_800, bytes.length);
      for (; i < end; i++) {
        a += bytes[i]!;
        b += a;
      }
      a %= 65_521;
      b %= 65_521;
    }
    return b * 65_536 + a;
  }

  const longestFrame = (size: number) => size + 16 + 5 * (1 + Math.ceil(size / BLOCK_BYTES));

  const roomFor = (size: number, given: ArrayBuffer | undefined): Buffer<ArrayBuffer> =>
    given && given.byteLength >= size
      ? Buffer.from(given)
      : Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES + (CHUNK_BYTES >> 2), size));

  /** Contract: there is room for `longestFrame`. Gives where it ends. */
  function frame(out: Buffer, at: number, type: number, content: Uint8Array): number {
    let byte = (type << 4) | (content.length & 15);
    for (let rest = Math.floor(content.length / 16); ; rest = Math.floor(rest / 128)) {
      out[at++] = rest === 0 ? byte : byte | 128;
      if (rest === 0) break;
      byte = rest & 127;
    }
    at = out.writeUInt16BE(0x7801, at);
    let start = 0;
    do {
      const length = Math.min(BLOCK_BYTES, content.length - start);
      out[at++] = start + length === content.length ? 1 : 0;
      at = out.writeUInt16LE(length, at);
      at = out.writeUInt16LE(~length & 0xffff, at);
      out.set(content.subarray(start, start + length), at);
      at += length;
      start += length;
    } while (start < content.length);
    return out.writeUInt32BE(adler32(content), at);
  }

  /** The folder without a link on the way, and how its names are reached; undefined when it is not there. */
  function enter(full: string): { fd: number; prefix: string } | undefined {
    try {
      const fd = openSync(atSystem(full), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      const real = proc
        ? readlinkSync(`/proc/self/fd/${fd}`, { encoding: "latin1" })
        : realpathSync(atSystem(full), { encoding: "latin1" });
      if (real === full) return { fd, prefix: proc ? `/proc/self/fd/${fd}/` : `${full}/` };
      closeSync(fd);
    } catch {} // its files say that they cannot be read
    return undefined;
  }

  function read(job: ReadJob, from: number, each?: (content: Buffer, oid: string) => void): ReadChunk {
    const { names, folders, max, keep } = job;
    const numbers = new Float64Array((names.length - from) * NUMBERS);
    const at = Date.now();
    let oids = "";
    let out: Buffer<ArrayBuffer> | undefined;
    let used = 0;
    let bytes = 0;
    let next = from;
    let last = 0; // how many names lie in the folders up to this one
    let isFull = false;
    for (const folder of folders) {
      last += folder.count;
      if (last <= next) continue;
      if (isFull || bytes >= CHUNK_BYTES) break;
      const here = enter(folder.full);
      for (; next < last && bytes < CHUNK_BYTES; next++) {
        const n = (next - from) * NUMBERS;
        let oid = "";
        let fd: number | undefined;
        numbers[n + AT.outcome] = OUTCOME.unreadable;
        try {
          if (here) {
            fd = openSync(atSystem(here.prefix + names[next]!), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
            const stat = fstatSync(fd);
            if (!stat.isFile()) numbers[n + AT.outcome] = OUTCOME.odd;
            else if (stat.size > max) numbers[n + AT.outcome] = OUTCOME.big;
            else {
              const end = fill(fd, stat.size, max);
              if (end > 0) {
                oid = oidOf(end);
                putStat(numbers, n, stat);
                const content = room.subarray(HEAD_ROOM, end);
                bytes += content.length;
                if (each) each(content, oid);
                else if (keep) {
                  out ??= roomFor(longestFrame(content.length), job.room);
                  if (used + longestFrame(content.length) > out.length) {
                    isFull = true; // the next chunk begins with this file
                    break;
                  }
                  const start = used;
                  used = frame(out, start, 3, content);
                  numbers[n + AT.crc] = crc32(out.subarray(start, used));
                  numbers[n + AT.length] = used - start;
                }
              }
            }
          }
        } catch (error) {
          if (errorCode(error) === "ENOENT") numbers[n + AT.outcome] = OUTCOME.gone;
        } finally {
          if (fd !== undefined) closeSync(fd);
        }
        oids += oid === "" ? "0".repeat(40) : oid;
      }
      if (here) closeSync(here.fd);
    }
    return { count: next - from, at, numbers, oids, ...(out && { entries: out.subarray(0, used) }) };
  }

  return {
    read,
    readOne(file, max) {
      const fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const { size } = fstatSync(fd);
        const end = size > max ? 0 : fill(fd, size, max);
        return end === 0 ? undefined : { oid: oidOf(end), content: room.subarray(HEAD_ROOM, end) };
      } finally {
        closeSync(fd);
      }
    },
    framed(type, content) {
      const out = Buffer.allocUnsafe(longestFrame(content.length));
      return out.subarray(0, frame(out, 0, type, content));
    },
  };
}
