// Owns reading files in bulk: what each one is, its name in git, its bytes as entries of a pack. A second thread runs the same text.

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
  /** `NUMBERS` a file: outcome, permission bits, size, mtimeMs, ctimeMs, ino, CRC and length of its entry. */
  numbers: Float64Array<ArrayBuffer>;
  /** 40 digits a file. */
  oids: string;
  /** The entries, one behind the other. */
  entries?: Uint8Array<ArrayBuffer>;
}

export const NUMBERS = 8;
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

/** Contract: uses nothing from outside itself but the system, because its text is what the second thread runs. */
export function createReader(): Reader {
  const fs = process.getBuiltinModule("node:fs");
  const { hash } = process.getBuiltinModule("node:crypto");
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const numbersEach = 8;
  const chunkBytes = 1 << 20;
  const blockBytes = 65_535;
  /** Room for the head that git hashes in front of a content. */
  const headRoom = 32;
  const proc = fs.existsSync("/proc/self/fd");
  const atSystem = (raw: string) => (/[^\x00-\x7f]/.test(raw) ? Buffer.from(raw, "latin1") : raw);
  let room = Buffer.allocUnsafeSlow(256 << 10);

  /** The end of what was read into `room`; 0: there is more than `max`. */
  function fill(fd: number, size: number, max: number): number {
    if (room.length <= headRoom + size) room = Buffer.allocUnsafeSlow(Math.max(headRoom + size + 1, room.length * 2));
    for (let end = headRoom; ; ) {
      const n = fs.readSync(fd, room, end, room.length - end, null);
      end += n;
      // As long as it was when it was looked at: what came since is a later state.
      if (n === 0 || end - headRoom === size) return end;
      if (end - headRoom > max) return 0;
      if (end === room.length) room = Buffer.concat([room], room.length * 2);
    }
  }

  function oidOf(end: number): string {
    const head = `blob ${end - headRoom}\0`;
    room.write(head, headRoom - head.length, "latin1");
    return hash("sha1", room.subarray(headRoom - head.length, end), "hex");
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

  const longestFrame = (size: number) => size + 16 + 5 * (1 + Math.ceil(size / blockBytes));

  const roomFor = (size: number, given: ArrayBuffer | undefined): Buffer<ArrayBuffer> =>
    given && given.byteLength >= size
      ? Buffer.from(given)
      : Buffer.allocUnsafeSlow(Math.max(chunkBytes + (chunkBytes >> 2), size));

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
      const length = Math.min(blockBytes, content.length - start);
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
      const fd = fs.openSync(atSystem(full), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      const real = proc
        ? fs.readlinkSync(`/proc/self/fd/${fd}`, { encoding: "latin1" })
        : fs.realpathSync(atSystem(full), { encoding: "latin1" });
      if (real === full) return { fd, prefix: proc ? `/proc/self/fd/${fd}/` : `${full}/` };
      fs.closeSync(fd);
    } catch {} // its files say that they cannot be read
    return undefined;
  }

  function read(job: ReadJob, from: number, each?: (content: Buffer, oid: string) => void): ReadChunk {
    const { names, folders, max, keep } = job;
    const numbers = new Float64Array((names.length - from) * numbersEach);
    const at = Date.now();
    let oids = "";
    let out: Buffer<ArrayBuffer> | undefined;
    let used = 0;
    let bytes = 0;
    let next = from;
    let folder = 0;
    let before = 0; // how many names lie in the folders before this one
    while (before + folders[folder]!.count <= next) before += folders[folder++]!.count;
    for (let full = false; next < names.length && !full && bytes < chunkBytes; folder++) {
      const last = before + folders[folder]!.count;
      const here = enter(folders[folder]!.full);
      for (; next < last && bytes < chunkBytes; next++) {
        const n = (next - from) * numbersEach;
        let oid = "";
        let fd: number | undefined;
        numbers[n] = 4;
        try {
          if (here) {
            fd = fs.openSync(atSystem(here.prefix + names[next]!), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
            const stat = fs.fstatSync(fd);
            if (!stat.isFile()) numbers[n] = 2;
            else if (stat.size > max) numbers[n] = 3;
            else {
              const end = fill(fd, stat.size, max);
              if (end > 0) {
                oid = oidOf(end);
                numbers[n] = 0;
                numbers[n + 1] = stat.mode & 0o777;
                numbers[n + 2] = stat.size;
                numbers[n + 3] = stat.mtimeMs;
                numbers[n + 4] = stat.ctimeMs;
                numbers[n + 5] = stat.ino;
                const content = room.subarray(headRoom, end);
                bytes += content.length;
                if (each) each(content, oid);
                else if (keep) {
                  out ??= roomFor(longestFrame(content.length), job.room);
                  if (used + longestFrame(content.length) > out.length) {
                    full = true; // the next chunk begins with this file
                    break;
                  }
                  const start = used;
                  used = frame(out, start, 3, content);
                  numbers[n + 6] = crc32(out.subarray(start, used));
                  numbers[n + 7] = used - start;
                }
              }
            }
          }
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === "ENOENT") numbers[n] = 1;
        } finally {
          if (fd !== undefined) fs.closeSync(fd);
        }
        oids += oid === "" ? "0".repeat(40) : oid;
      }
      if (here) fs.closeSync(here.fd);
      before = last;
    }
    return { count: next - from, at, numbers, oids, ...(out && { entries: out.subarray(0, used) }) };
  }

  return {
    read,
    readOne(file, max) {
      const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const { size } = fs.fstatSync(fd);
        const end = size > max ? 0 : fill(fd, size, max);
        return end === 0 ? undefined : { oid: oidOf(end), content: room.subarray(headRoom, end) };
      } finally {
        fs.closeSync(fd);
      }
    },
    framed(type, content) {
      const out = Buffer.allocUnsafe(longestFrame(content.length));
      return out.subarray(0, frame(out, 0, type, content));
    },
  };
}
