// Looking at the root: which files are kept, and which of them changed since the last look.
import fs from "node:fs";
import { errorCode } from "../ledger/guards.ts";
import { type IgnoreRules, isIgnored, parseRules } from "./ignore.ts";
import { atSystem, isGitName, isTemporary, joined, type RawPath } from "./names.ts";
import { type Oid, oidOf } from "./pack.ts";
import { ignoreText, type Tracked } from "./repository.ts";

export interface FileNode {
  kind: "file" | "link";
  /** Permission bits; 0 for links. */
  mode: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  /** Since when it is as it is, where that is longer than `ctimeMs` says: it was written again with the same content, or only touched. */
  sameSinceMs?: number;
  ino: number;
  /** Empty: not known. */
  oid: Oid;
  /** Changed so shortly before it was read that its times cannot vouch for its content. */
  racy: boolean;
  /** Kept although a rule ignores it. */
  forced?: boolean;
}

export interface DirNode {
  kind: "dir";
  mode: number;
  children: Map<RawPath, Node>;
  /** Known from before, not reached this time. */
  rest?: Map<RawPath, Node>;
  ignored: Map<RawPath, boolean>;
  /** Its names as they were when its times were these; absent when the times cannot vouch for them. */
  listed?: { mtimeMs: number; ctimeMs: number; ino: number; names: RawPath[] };
  /** The rules that `children` and `ignored` were judged by. */
  rules?: IgnoreRules;
  own?: { key: string; parent: IgnoreRules | undefined; rules: IgnoreRules };
  forced?: boolean;
  /** Its tree object, as long as nothing below changed. */
  tree?: Oid;
}

type Node = FileNode | DirNode;

export interface Left {
  path: RawPath;
  why: string;
}

/** Files of one folder whose content is not known. */
export interface Unread {
  dir: DirNode;
  path: RawPath;
  /** Where `UNKNOWN` stands for them until they are read. */
  children: Map<RawPath, Node>;
  before: Map<RawPath, Node>;
  names: RawPath[];
  /** Kept although a rule ignores them. */
  forced: Set<RawPath>;
}

const UNKNOWN: Readonly<FileNode> = {
  kind: "file",
  mode: 0,
  size: 0,
  mtimeMs: 0,
  ctimeMs: 0,
  ino: 0,
  oid: "",
  racy: true,
};

export interface ScanOptions {
  root: RawPath;
  outside: IgnoreRules | undefined;
  tracked: Tracked;
  /** A path that is not looked at: where the state lies. */
  skip: RawPath | undefined;
  /** Whether the object of an unchanged file is still kept. */
  has(oid: Oid): boolean;
  /** Takes where a new link leads. */
  takeLink(target: Buffer, oid: Oid): void;
  /** Takes the files of a folder whose content is not known; they stand in its `children` without an `oid`. */
  unread(files: Unread): void;
  /** The device on which the time of a folder says whether its names changed. */
  trustedDevice: number | undefined;
  /** True: give way to others. */
  due(): boolean;
  /** True: stop, with what is there. */
  over(): boolean;
}

export interface Scan {
  left: Left[];
  partial: boolean;
  changed: number;
}

export const newDir = (): DirNode => ({ kind: "dir", mode: 0o755, children: new Map(), ignored: new Map() });

/** Contract: advance it until it is done; `top` then holds what is kept. Between two steps others may run. */
export function* scanTree(top: DirNode, opts: ScanOptions): Generator<undefined, Scan> {
  const scan: Scan = { left: [], partial: false, changed: 0 };
  const stat = fs.lstatSync(atSystem(opts.root));
  top.mode = stat.mode & 0o3777;
  yield* scanFolder(top, stat, "", opts.outside, false, opts, scan);
  return scan;
}

function* scanFolder(
  dir: DirNode,
  stat: fs.Stats,
  path: RawPath,
  parentRules: IgnoreRules | undefined,
  trackedOnly: boolean,
  opts: ScanOptions,
  scan: Scan,
): Generator<undefined, boolean> {
  const full = fullOf(opts, path);
  const before = dir.children;
  const children = new Map<RawPath, Node>();
  const ignored = new Map<RawPath, boolean>();
  const unread: Unread = { dir, path, children, before, names: [], forced: new Set() };
  let dirty = dir.tree === undefined;
  const { names, plain } = namesOrNone(dir, stat, path, opts, scan);
  const rules = names.includes(".gitignore") ? rulesHere(dir, path, full, parentRules) : parentRules;
  const judged = dir.rules === rules;
  for (let i = 0; ; i++) {
    const name = names[i];
    if (name === undefined) break;
    if (opts.due()) yield;
    if (opts.over()) {
      scan.partial = true;
      break;
    }
    if (isGitName(name) || isTemporary(name)) continue;
    const at = joined(path, name);
    if (at === opts.skip) continue;
    const old = before.get(name) ?? dir.rest?.get(name);
    // Of a new file everything is learned when it is opened.
    const stat = !old && plain?.[i] ? undefined : look(`${full}/${name}`);
    if (!stat && !(!old && plain?.[i])) continue;
    const isDir = stat?.isDirectory() ?? false;
    let forced = trackedOnly;
    if (!trackedOnly && !(judged && old && !old.forced && (old.kind === "dir") === isDir))
      forced = judged && dir.ignored.get(name) === isDir ? true : isIgnored(rules, at, isDir);
    if (forced && !(isDir ? opts.tracked.hasUnder(at) : opts.tracked.has(at))) {
      ignored.set(name, isDir);
      continue;
    }
    if (stat && isDir) {
      const node = old?.kind === "dir" ? old : newDir();
      const mode = stat.mode & 0o3777;
      node.mode = mode;
      node.forced = forced || undefined;
      children.set(name, node);
      if (yield* scanFolder(node, stat, at, rules, forced, opts, scan)) dirty = true;
      if (node !== old) dirty = true;
      continue;
    }
    if (scanFile(unread, name, stat, old, forced, opts, scan)) dirty = true;
  }
  adopt(dir, children, scan);
  dir.ignored = ignored;
  dir.rules = rules;
  if (dirty || hasOtherNames(before, children)) dir.tree = undefined;
  if (unread.names.length > 0) opts.unread(unread);
  return dir.tree === undefined;
}

/** What was found takes the place of what was known; of a look that was cut short the rest is remembered. */
function adopt(dir: DirNode, children: Map<RawPath, Node>, { partial }: Scan): void {
  const unseen = partial ? [...(dir.rest ?? []), ...dir.children].filter(([name]) => !children.has(name)) : [];
  dir.rest = unseen.length > 0 ? new Map(unseen) : undefined;
  dir.children = children;
}

/** Whether there are other names than before. */
function hasOtherNames(before: Map<RawPath, Node>, children: Map<RawPath, Node>): boolean {
  if (children.size !== before.size) return true;
  for (const name of before.keys()) if (!children.has(name)) return true;
  return false;
}

/** A file or a link, or what is neither: whether it is another one than before. */
function scanFile(
  unread: Unread,
  name: RawPath,
  stat: fs.Stats | undefined,
  old: Node | undefined,
  forced: boolean,
  opts: ScanOptions,
  scan: Scan,
): boolean {
  const { children, path } = unread;
  const known = old && old.kind !== "dir" ? old : undefined;
  if (known && stat && isSame(known, stat) && opts.has(known.oid)) {
    known.forced = forced || undefined;
    children.set(name, known);
    return false;
  }
  scan.changed++;
  if (!stat || stat.isFile()) {
    unread.names.push(name);
    if (forced) unread.forced.add(name);
    children.set(name, UNKNOWN);
  } else if (stat.isSymbolicLink()) {
    try {
      const node = readLink(stat, joined(fullOf(opts, path), name), opts);
      children.set(name, { ...node, ...sameSince(node, old), ...(forced && { forced }) });
    } catch (error) {
      if (errorCode(error) !== "ENOENT") scan.left.push({ path: joined(path, name), why: "cannot be read" });
    }
  } else scan.left.push({ path: joined(path, name), why: "not a regular file" });
  return true;
}

const fullOf = ({ root }: ScanOptions, path: RawPath): RawPath => (path === "" ? root : `${root}/${path}`);

export const isExec = (node: FileNode): boolean => (node.mode & 0o100) !== 0;

interface Listed {
  names: RawPath[];
  /** Which of them are regular files, where the system says so with the names. */
  plain?: boolean[];
}

/** None of a folder that is gone, or cannot be read. */
function namesOrNone(dir: DirNode, stat: fs.Stats, path: RawPath, opts: ScanOptions, scan: Scan): Listed {
  try {
    return namesIn(dir, stat, fullOf(opts, path), opts.trustedDevice);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") scan.left.push({ path, why: "cannot be read" });
    return { names: [] };
  }
}

/** Listing a folder costs more than looking at it: where its time tells, an unchanged one is not listed again. */
function namesIn(dir: DirNode, stat: fs.Stats, full: RawPath, trustedDevice: number | undefined): Listed {
  const { mtimeMs, ctimeMs, ino } = stat;
  const { listed } = dir;
  if (listed && listed.mtimeMs === mtimeMs && listed.ctimeMs === ctimeMs && listed.ino === ino) return listed;
  const vouched = stat.dev === trustedDevice && !isRacy(mtimeMs, ctimeMs, Date.now());
  const found = dir.children.size === 0 && vouched ? listKinds(full) : undefined;
  const names = found?.names ?? fs.readdirSync(atSystem(full), { encoding: "latin1" });
  dir.listed = vouched ? { mtimeMs, ctimeMs, ino, names } : undefined;
  return found ?? { names };
}

/** For a folder of which nothing is known yet. */
function listKinds(full: RawPath): Listed | undefined {
  try {
    const entries = fs.readdirSync(atSystem(full), { encoding: "latin1", withFileTypes: true });
    return { names: entries.map((e) => e.name), plain: entries.map((e) => e.isFile()) };
  } catch {
    return undefined; // a system that does not say, and names that Node cannot ask for
  }
}

function look(file: RawPath): fs.Stats | undefined {
  try {
    return fs.lstatSync(atSystem(file), { throwIfNoEntry: false });
  } catch {
    return undefined; // a folder that may be listed and not entered: its files say so when they are read
  }
}

function isSame(node: FileNode, stat: fs.Stats): boolean {
  return (
    node.oid !== "" &&
    !node.racy &&
    node.mtimeMs === stat.mtimeMs &&
    node.ctimeMs === stat.ctimeMs &&
    node.size === stat.size &&
    node.ino === stat.ino &&
    (node.kind === "link" ? stat.isSymbolicLink() : stat.isFile() && node.mode === (stat.mode & 0o777))
  );
}

/** What it was at the last look it may still be, whatever its times say. */
export const sameSince = (node: FileNode, old: Node | undefined): Pick<FileNode, "sameSinceMs"> =>
  old && old.kind === node.kind && old.oid === node.oid && old.mode === node.mode ? { sameSinceMs: sinceOf(old) } : {};

export const sinceOf = ({ sameSinceMs, ctimeMs }: Pick<FileNode, "sameSinceMs" | "ctimeMs">): number =>
  sameSinceMs ?? ctimeMs;

function readLink(stat: fs.Stats, file: RawPath, opts: ScanOptions): FileNode {
  const { size, mtimeMs, ctimeMs, ino } = stat;
  const target = Buffer.from(fs.readlinkSync(atSystem(file), { encoding: "latin1" }), "latin1");
  const oid = oidOf("blob", target);
  opts.takeLink(target, oid);
  return { kind: "link", mode: 0, size, mtimeMs, ctimeMs, ino, oid, racy: isRacy(mtimeMs, ctimeMs, Date.now()) };
}

/** Timestamps have steps of up to two seconds on some file systems. */
const RACY_MS = 2_000;

/** Whether what was read at that time may have changed since without a trace. */
export const isRacy = (mtimeMs: number, ctimeMs: number, readAt: number): boolean =>
  Math.max(mtimeMs, ctimeMs) > readAt - RACY_MS;

/** The same object as long as the file and what lies above it are the same. */
function rulesHere(
  dir: DirNode,
  path: RawPath,
  full: RawPath,
  parent: IgnoreRules | undefined,
): IgnoreRules | undefined {
  const file = `${full}/.gitignore`;
  const stat = look(file);
  if (!stat?.isFile()) return parent;
  const key = `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}`;
  const settled = !isRacy(stat.mtimeMs, stat.ctimeMs, Date.now());
  if (dir.own && settled && dir.own.key === key && dir.own.parent === parent) return dir.own.rules;
  const rules: IgnoreRules = { parent, base: path, list: parseRules(ignoreText(atSystem(file)) ?? "") };
  dir.own = { key: settled ? key : "", parent, rules };
  return rules;
}
