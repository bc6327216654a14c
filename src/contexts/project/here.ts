// What a directory is, by nothing that a repository can bring: its real path, device, inode and birth time, and those of its git directory.
import fs from "node:fs";
import path from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { readRecordText } from "./places.ts";

/** `device:inode:birth time in ns`; a birth time of 0 is one that the file system does not tell. */
export type DirId = string;

export interface Here {
  /** The directory asked about, and the one that holds its `.git`, or itself. */
  cwd: string;
  cwdId: DirId;
  top: string;
  topId: DirId;
  /** Undefined: no repository, or a `.git` that proves nothing. */
  git?: GitDir;
  /** What a `.git` file names that does not name this folder back. */
  unproven?: string;
  /** The path that older versions went by, where it can be believed. */
  olderKey?: string;
}

interface GitDir {
  kind: "main" | "worktree" | "submodule";
  /** Where this tree keeps its HEAD. */
  id: DirId;
  /** What all trees of the repository share. */
  common: DirId;
  commonPath: string;
}

/** Reads the `.git` file and the pointer back; runs nothing. */
export function lookHere(dir: string): Here {
  const { real: cwd, id: cwdId } = openDirectory(dir);
  for (let top = cwd; ; top = path.dirname(top)) {
    // Never through a link: a link to another project's git directory is not that project.
    const stat = lstat(path.join(top, ".git"));
    if (stat?.isDirectory() || stat?.isFile() || stat?.isSymbolicLink()) {
      const topId = top === cwd ? cwdId : idOf(fs.statSync(top, { bigint: true }));
      return { cwd, cwdId, top, topId, ...gitOf(top, stat) };
    }
    if (top === path.dirname(top)) return { cwd, cwdId, top: cwd, topId: cwdId, olderKey: cwd };
  }
}

function gitOf(top: string, stat: fs.BigIntStats): Pick<Here, "git" | "unproven" | "olderKey"> {
  const at = path.join(top, ".git");
  if (stat.isDirectory()) {
    const id = idOf(stat);
    return { git: { kind: "main", id, common: id, commonPath: at }, olderKey: at };
  }
  if (!stat.isFile()) return { olderKey: at };
  const named = /^gitdir:[ \t]*(.+)$/m.exec(readRecordText(at) ?? "")?.[1]?.trim();
  if (!named) return { olderKey: at };
  const git = pointsBack(top, path.resolve(top, named));
  return git ? { git, olderKey: git.commonPath } : { unproven: path.resolve(top, named) };
}

/** A `.git` file is the tree's word: only a git directory that names this folder is believed. */
function pointsBack(top: string, named: string): GitDir | undefined {
  try {
    const gitDir = fs.realpathSync(named);
    const id = idOf(fs.statSync(gitDir, { bigint: true }));
    const worktrees = path.dirname(gitDir);
    const pointer = readRecordText(path.join(gitDir, "gitdir"))?.trim();
    if (pointer !== undefined) {
      // The shared directory is the one that holds this entry, not one that the entry names.
      if (path.basename(worktrees) !== "worktrees" || !isFolder(path.resolve(gitDir, pointer, ".."), top))
        return undefined;
      if (path.basename(pointer) !== ".git") return undefined;
      const commonPath = path.dirname(worktrees);
      return { kind: "worktree", id, common: idOf(fs.statSync(commonPath, { bigint: true })), commonPath };
    }
    const tree = workTreeIn(readRecordText(path.join(gitDir, "config")) ?? "");
    if (tree === undefined || !isFolder(path.resolve(gitDir, tree), top)) return undefined;
    return { kind: "submodule", id, common: id, commonPath: gitDir };
  } catch {
    return undefined; // what is not there proves nothing
  }
}

/** `core.worktree`, as git writes it for a submodule. */
function workTreeIn(config: string): string | undefined {
  let section = "";
  for (const line of config.split("\n")) {
    section = /^\s*\[([^\]]*)\]/.exec(line)?.[1]?.trim().toLowerCase() ?? section;
    const value = section === "core" ? /^\s*worktree\s*=\s*(.*?)\s*$/i.exec(line)?.[1] : undefined;
    if (value !== undefined) return value.replace(/^"(.*)"$/, "$1").replace(/\\(["\\])/g, "$1");
  }
  return undefined;
}

const isFolder = (dir: string, real: string): boolean => dir === real || fs.realpathSync(dir) === real;

export function openDirectory(dir: string): { real: string; id: DirId } {
  try {
    const real = fs.realpathSync(dir);
    const stat = fs.statSync(real, { bigint: true });
    if (stat.isDirectory()) return { real, id: idOf(stat) };
  } catch (error) {
    throw new HoldfastError("invalid", `${dir} is not a directory that can be opened: give another --cwd`, {
      cause: error,
    });
  }
  throw new HoldfastError("invalid", `${dir} is not a directory: give another --cwd`);
}

const idOf = ({ dev, ino, birthtimeNs }: fs.BigIntStats): DirId => `${dev}:${ino}:${birthtimeNs}`;

/** Undefined: there is no directory at that path. */
export function idAt(dir: string): DirId | undefined {
  const stat = lstat(dir);
  return stat?.isDirectory() ? idOf(stat) : undefined;
}

export const tellsBirth = (id: DirId): boolean => !id.endsWith(":0");

/** Two looks at one path. Device numbers change with a new mount; a directory made anew has another birth time, even with the inode of the old one. */
export function isSameThere(was: DirId, now: DirId): boolean {
  if (was === now) return true;
  const [wasDev, wasIno, wasBirth] = was.split(":");
  const [dev, ino, birth] = now.split(":");
  if (!tellsBirth(was) || !tellsBirth(now)) return wasDev === dev && wasIno === ino;
  return wasBirth === birth && (wasIno === ino || wasDev !== dev);
}

/** One directory by two paths: moved, or mounted twice. Without a birth time nobody can tell. */
export const isSameElsewhere = (was: DirId, now: DirId): boolean => was === now && tellsBirth(now);

/** The same file system twice: a snapshot of it, or a clone of its image. */
export function isImageOf(was: DirId, now: DirId): boolean {
  const [dev, ...wasRest] = was.split(":");
  const [nowDev, ...rest] = now.split(":");
  return tellsBirth(now) && dev !== nowDev && wasRest.join() === rest.join();
}

function lstat(file: string): fs.BigIntStats | undefined {
  try {
    return fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // a folder that may not be looked into
  }
}
