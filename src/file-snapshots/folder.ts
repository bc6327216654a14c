// Reaching a file inside the root without ever going through a link: folders are opened one by one and held.
import fs from "node:fs";
import { HoldfastError } from "../ledger/error.ts";
import { atSystem, type RawPath, shownOf } from "./names.ts";

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
