// What is known about the project's repository by reading its files: where its objects are, what it ignores, what it tracks. Runs nothing.
import fs from "node:fs";
import path from "node:path";
import { readIndex } from "./git-index.ts";
import { type IgnoreRules, parseRules } from "./ignore.ts";
import { type RawPath, rawOf } from "./names.ts";

export interface Repository {
  /** The folder that `.git` lies in. */
  top: string;
  gitDir: string;
  /** Its object store, when there is one that can serve as an alternate. */
  objects?: string;
}

/** The texts of rules from outside the root, the weaker first: `info/exclude`, `.gitignore` files above. */
export type OutsideRules = { above: RawPath; text: string }[];

/** Contract: only what is written in files; a `.git` that leads nowhere is no repository. */
export function findRepository(root: string): Repository | undefined {
  for (let top = root; ; top = path.dirname(top)) {
    const gitDir = gitDirAt(top);
    if (gitDir) {
      const common = commonDir(gitDir);
      return { top, gitDir, objects: objectsOf(common) };
    }
    if (top === path.dirname(top)) return undefined;
  }
}

function gitDirAt(top: string): string | undefined {
  const file = path.join(top, ".git");
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return fs.existsSync(path.join(file, "HEAD")) ? file : undefined;
  if (!stat?.isFile()) return undefined;
  const target = /^gitdir:\s*(.+)$/m.exec(smallFile(file) ?? "")?.[1]?.trim();
  const gitDir = target && path.resolve(top, target);
  return gitDir && fs.existsSync(path.join(gitDir, "HEAD")) ? gitDir : undefined;
}

function commonDir(gitDir: string): string {
  const text = smallFile(path.join(gitDir, "commondir"))?.trim();
  return text ? path.resolve(gitDir, text) : gitDir;
}

/**
 * Contract: a real directory, of this user, with SHA-1 names. Borrowing from it is safe wherever it points:
 * an object is asked for by the hash of content that was read from the root, and checked when it is copied.
 */
function objectsOf(common: string): string | undefined {
  try {
    const dir = fs.realpathSync(path.join(common, "objects"));
    const stat = fs.statSync(dir);
    const mine = process.getuid === undefined || stat.uid === process.getuid() || process.getuid() === 0;
    const other = /^\s*objectformat\s*=\s*"?(?!"?sha1)/im.test(smallFile(path.join(common, "config")) ?? "");
    return stat.isDirectory() && mine && !other ? dir : undefined;
  } catch {
    return undefined;
  }
}

export function outsideRules(root: string, repository: Repository | undefined): OutsideRules {
  if (!repository) return [];
  const found: OutsideRules = [];
  const add = (dir: string, file: string) => {
    const text = ignoreText(file);
    if (text) found.push({ above: rawOf(path.relative(dir, root)), text });
  };
  add(repository.top, path.join(commonDir(repository.gitDir), "info", "exclude"));
  const between = path.relative(repository.top, root).split(path.sep).filter(Boolean);
  for (let i = 0; i < between.length; i++) {
    const dir = path.join(repository.top, ...between.slice(0, i));
    add(dir, path.join(dir, ".gitignore"));
  }
  return found;
}

export function chainOf(outside: OutsideRules): IgnoreRules | undefined {
  return outside.reduce<IgnoreRules | undefined>(
    (parent, { above, text }) => ({ parent, base: "", above: above || undefined, list: parseRules(text) }),
    undefined,
  );
}

/** As git reads it: a regular file, not through a link. One character a byte. */
export function ignoreText(file: string | Buffer): string | undefined {
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    try {
      const stat = fs.fstatSync(fd);
      return stat.isFile() && stat.size < 1_000_000 ? fs.readFileSync(fd, "latin1") : undefined;
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function smallFile(file: string): string | undefined {
  try {
    return fs.statSync(file).size < 1_000_000 ? fs.readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Paths that the project's index names, relative to the root: they are kept although a rule ignores them. */
export interface Tracked {
  has(path: RawPath): boolean;
  hasUnder(folder: RawPath): boolean;
}

const NOTHING: Tracked = { has: () => false, hasUnder: () => false };

/** Contract: reads the index when it is asked, and anew only when it changed. One that cannot be understood tracks nothing. */
export function trackedReader(root: string) {
  let known: { key: string; tracked: Tracked } | undefined;
  return (repository: Repository | undefined): Tracked => {
    if (!repository) return NOTHING;
    const file = path.join(repository.gitDir, "index");
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile()) return NOTHING;
    const key = [file, stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino].join(":");
    if (known?.key !== key) {
      let read: Tracked | undefined;
      const tracked = () => (read ??= readTracked(root, repository));
      known = { key, tracked: { has: (p) => tracked().has(p), hasUnder: (p) => tracked().hasUnder(p) } };
    }
    return known.tracked;
  };
}

function readTracked(root: string, { top, gitDir }: Repository): Tracked {
  let paths: RawPath[];
  try {
    paths = readIndex(gitDir).map((entry) => entry.path);
  } catch {
    return NOTHING;
  }
  const prefix = root === top ? "" : `${rawOf(path.relative(top, root))}/`;
  const own = paths.filter((p) => p.startsWith(prefix)).map((p) => p.slice(prefix.length));
  own.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const first = (wanted: string) => {
    let low = 0;
    for (let high = own.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (own[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return own[low];
  };
  return {
    has: (p) => first(p) === p,
    hasUnder: (folder) => first(`${folder}/`)?.startsWith(`${folder}/`) ?? false,
  };
}
