// A folder that is held while a file in it is replaced: names are looked up in the folder itself, whatever its path means by now.
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../ledger/guards.ts";
import { byNumber, hasProc, nameOf } from "./kernel-names.ts";
import { realPath } from "./paths.ts";
import { changing } from "./permit.ts";
import { explained, isSame } from "./safe-open.ts";

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY } = constants;

/** Contract: close it. */
export interface HeldFolder {
  fd: number;
  /** The path of a name in it. */
  at(name: string): string;
  /** Throws `refused` when the folder is no longer where it was; does nothing where that cannot matter. */
  confirm(): void;
}

export interface FolderOptions {
  shown: string;
  /** Otherwise a folder that is not there is undefined. */
  create?: boolean;
  /** For tests of the other way. */
  viaProc?: boolean;
}

/** Contract: `dir` is a real path that was judged; throws `refused` when a link was put into it since. */
export function holdFolder(dir: string, opts: FolderOptions & { create: true }): HeldFolder;
export function holdFolder(dir: string, opts: FolderOptions): HeldFolder | undefined;
export function holdFolder(dir: string, opts: FolderOptions): HeldFolder | undefined {
  const viaProc = opts.viaProc ?? hasProc();
  const missing: string[] = [];
  for (let at = dir; ; at = dirname(at)) {
    let folder: HeldFolder;
    try {
      folder = openFolder(at, opts.shown, viaProc);
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || dirname(at) === at) throw explained(error, opts.shown);
      if (!opts.create) return undefined;
      missing.unshift(basename(at));
      continue;
    }
    return missing.reduce((parent, name) => {
      at = join(at, name);
      return makeFolder(parent, { name, at, shown: opts.shown, viaProc });
    }, folder);
  }
}

function openFolder(dir: string, shown: string, viaProc: boolean): HeldFolder {
  const folder = wrap(openSync(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), { dir, shown, viaProc });
  try {
    if (viaProc && nameOf(folder.fd) !== dir) throw changing(shown);
    folder.confirm();
    return folder;
  } catch (error) {
    closeSync(folder.fd);
    throw error;
  }
}

/** By construction inside its parent; the parent is closed. */
function makeFolder(
  parent: HeldFolder,
  { name, at, shown, viaProc }: { name: string; at: string; shown: string; viaProc: boolean },
): HeldFolder {
  try {
    parent.confirm();
    try {
      mkdirSync(parent.at(name));
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    return wrap(openSync(parent.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW), { dir: at, shown, viaProc });
  } catch (error) {
    throw errorCode(error) === "ELOOP" ? changing(shown) : explained(error, shown);
  } finally {
    closeSync(parent.fd);
  }
}

function wrap(fd: number, { dir, shown, viaProc }: { dir: string; shown: string; viaProc: boolean }): HeldFolder {
  if (viaProc) return { fd, at: (name) => `${byNumber(fd)}/${name}`, confirm: () => undefined };
  return {
    fd,
    at: (name) => join(dir, name),
    confirm() {
      const there = lstatSync(dir, { throwIfNoEntry: false });
      if (!there || !isSame(there, fstatSync(fd)) || realPath(dir) !== dir) throw changing(shown);
    },
  };
}
