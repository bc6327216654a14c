// Owns reaching a file inside the root without ever going through a link: folders are opened one by one and held.
import { hash } from "node:crypto";
import fs from "node:fs";
import { HoldfastError } from "../../ledger/error.ts";
import { atSystem, type RawPath, shownOf } from "./names.ts";
import type { Oid } from "./pack.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants;
let proc: boolean | undefined;

/** Contract: close it. */
export interface Folder {
  fd: number;
  /** The path of a name in it, for one system call. */
  at(name: RawPath): string | Buffer;
  close(): void;
}

/** Contract: the folder that lies there without a link on the way, or throws: ENOENT, ENOTDIR, ELOOP, EACCES, or `refused`. */
export function openFolder(root: RawPath, dir: RawPath): Folder {
  proc ??= fs.existsSync("/proc/self/fd");
  const full = dir === "" ? root : `${root}/${dir}`;
  const fd = fs.openSync(atSystem(full), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const real = proc
    ? fs.readlinkSync(`/proc/self/fd/${fd}`, { encoding: "latin1" })
    : fs.realpathSync(atSystem(full), { encoding: "latin1" });
  if (real !== full) {
    fs.closeSync(fd);
    throw new HoldfastError("refused", `${shownOf(full)} leads to another place: a link lies on the way`);
  }
  return {
    fd,
    at: (name) => atSystem(proc ? `/proc/self/fd/${fd}/${name}` : `${full}/${name}`),
    close: () => fs.closeSync(fd),
  };
}

/** Room for the head that git hashes in front of a content. */
const HEAD = 32;
let room = Buffer.allocUnsafe(256 << 10);

/**
 * Contract: the bytes are overwritten by the next call; undefined when there are more than `max`. Never a link, never waits for a FIFO.
 * `size` is what it probably has.
 */
export function readHere(file: string | Buffer, size: number, max: number): { content: Buffer; oid: Oid } | undefined {
  if (size > max) return undefined;
  const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | fs.constants.O_NONBLOCK);
  try {
    if (room.length <= HEAD + size) room = Buffer.allocUnsafe(Math.max(HEAD + size + 1, room.length * 2));
    for (let end = HEAD; ; ) {
      const n = fs.readSync(fd, room, end, room.length - end, null);
      end += n;
      // As long as it was when it was looked at: what came since is a later state.
      if (n === 0 || end - HEAD === size) return hashed(end);
      if (end - HEAD > max) return undefined;
      if (end === room.length) room = Buffer.concat([room], room.length * 2);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function hashed(end: number): { content: Buffer; oid: Oid } {
  const head = `blob ${end - HEAD}\0`;
  const start = HEAD - head.length;
  room.write(head, start, "latin1");
  return { content: room.subarray(HEAD, end), oid: hash("sha1", room.subarray(start, end), "hex") };
}
