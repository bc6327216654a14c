// Owns looking at the root: which files are kept, what changed since the last look, and the content of what did.
import fs from "node:fs";
import { type Folder, openFolder, readHere } from "./folder.ts";
import { isIgnored, parseRules, type Rules } from "./ignore.ts";
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
  rules?: Rules;
  own?: { key: string; parent: Rules | undefined; rules: Rules };
  forced?: boolean;
  /** Its tree object, as long as nothing below changed. */
  tree?: Oid;
}

type Node = FileNode | DirNode;

export interface Left {
  path: RawPath;
  why: string;
}

export interface ScanOptions {
  root: RawPath;
  maxFileBytes: number;
  outside: Rules | undefined;
  tracked: Tracked;
  /** A path that is not looked at: where the state lies. */
  skip: RawPath | undefined;
  /** Whether the object of an unchanged file is still kept. */
  has(oid: Oid): boolean;
  /** Takes content that is new; the bytes are gone after the call. */
  take(content: Buffer, oid: Oid, node: FileNode, path: RawPath): void;
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

/** Timestamps have steps of up to two seconds on some file systems. */
const RACY_MS = 2_000;

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
  parentRules: Rules | undefined,
  trackedOnly: boolean,
  opts: ScanOptions,
  scan: Scan,
): Generator<undefined, boolean> {
  const full = path === "" ? opts.root : `${opts.root}/${path}`;
  const before = dir.children;
  const children = new Map<RawPath, Node>();
  const ignored = new Map<RawPath, boolean>();
  let held: Folder | undefined;
  let dirty = dir.tree === undefined;
  let names: RawPath[] = [];
  try {
    names = namesIn(dir, stat, full, opts.trustedDevice);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") scan.left.push({ path, why: "cannot be read" });
  }
  const rules = names.includes(".gitignore") ? rulesHere(dir, path, full, parentRules) : parentRules;
  const judged = dir.rules === rules;
  try {
    for (const name of names) {
      if (opts.due()) yield;
      if (opts.over()) {
        scan.partial = true;
        break;
      }
      if (isGitName(name) || isTemporary(name)) continue;
      const at = joined(path, name);
      if (at === opts.skip) continue;
      const stat = look(`${full}/${name}`);
      if (!stat) continue;
      const isDir = stat.isDirectory();
      const old = before.get(name) ?? dir.rest?.get(name);
      let forced = trackedOnly;
      if (!trackedOnly && !(judged && old && !old.forced && (old.kind === "dir") === isDir))
        forced = judged && dir.ignored.get(name) === isDir ? true : isIgnored(rules, at, isDir);
      if (forced && !(isDir ? opts.tracked.hasUnder(at) : opts.tracked.has(at))) {
        ignored.set(name, isDir);
        continue;
      }
      if (isDir) {
        const node = old?.kind === "dir" ? old : newDir();
        const mode = stat.mode & 0o3777;
        node.mode = mode;
        node.forced = forced || undefined;
        children.set(name, node);
        if (yield* scanFolder(node, stat, at, rules, forced, opts, scan)) dirty = true;
        if (node !== old) dirty = true;
        continue;
      }
      const known = old && old.kind !== "dir" ? old : undefined;
      if (known && isSame(known, stat) && opts.has(known.oid)) {
        known.forced = forced || undefined;
        children.set(name, known);
        continue;
      }
      scan.changed++;
      const node: FileNode = { kind: "file", mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, oid: "", racy: true };
      if (forced) node.forced = true;
      let reason: string | undefined;
      try {
        if (stat.isSymbolicLink()) readLink(node, stat, `${full}/${name}`, at, opts);
        else if (!stat.isFile()) reason = "not a regular file";
        else if (stat.size > opts.maxFileBytes) reason = `over ${Math.round(opts.maxFileBytes / 1e5) / 10} MB`;
        else {
          held ??= openFolder(opts.root, path);
          reason = readFile(node, stat, held.at(name), at, opts);
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
        reason = "cannot be read";
      }
      if (reason !== undefined) scan.left.push({ path: at, why: reason });
      else {
        children.set(name, node);
        if (!known || known.oid !== node.oid || known.kind !== node.kind || isExec(known) !== isExec(node))
          dirty = true;
      }
    }
  } finally {
    held?.close();
  }
  if (children.size !== before.size) dirty = true;
  else if (!dirty) for (const name of before.keys()) if (!children.has(name)) dirty = true;
  const unseen = scan.partial ? [...(dir.rest ?? []), ...before].filter(([name]) => !children.has(name)) : [];
  dir.rest = unseen.length > 0 ? new Map(unseen) : undefined;
  dir.children = children;
  dir.ignored = ignored;
  dir.rules = rules;
  if (dirty) dir.tree = undefined;
  return dirty;
}

export const isExec = (node: FileNode): boolean => (node.mode & 0o100) !== 0;

/** Listing a folder costs more than looking at it: where its time tells, an unchanged one is not listed again. */
function namesIn(dir: DirNode, stat: fs.Stats, full: RawPath, trustedDevice: number | undefined): RawPath[] {
  const { mtimeMs, ctimeMs, ino } = stat;
  const { listed } = dir;
  if (listed && listed.mtimeMs === mtimeMs && listed.ctimeMs === ctimeMs && listed.ino === ino) return listed.names;
  const vouched = stat.dev === trustedDevice && Math.max(mtimeMs, ctimeMs) < Date.now() - RACY_MS;
  const names = fs.readdirSync(atSystem(full), { encoding: "latin1" });
  dir.listed = vouched ? { mtimeMs, ctimeMs, ino, names } : undefined;
  return names;
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

function remember(node: FileNode, stat: fs.Stats, oid: Oid): void {
  node.oid = oid;
  node.size = stat.size;
  node.mtimeMs = stat.mtimeMs;
  node.ctimeMs = stat.ctimeMs;
  node.ino = stat.ino;
  node.racy = Math.max(stat.mtimeMs, stat.ctimeMs) > Date.now() - RACY_MS;
}

function readLink(node: FileNode, stat: fs.Stats, file: RawPath, at: RawPath, opts: ScanOptions): void {
  const target = Buffer.from(fs.readlinkSync(atSystem(file), { encoding: "latin1" }), "latin1");
  node.kind = "link";
  remember(node, stat, oidOf("blob", target));
  opts.take(target, node.oid, node, at);
}

/** The reason why it is not kept, if it is not. `stat` is from before: a change since shows at the next look. */
function readFile(
  node: FileNode,
  stat: fs.Stats,
  file: string | Buffer,
  at: RawPath,
  opts: ScanOptions,
): string | undefined {
  const read = readHere(file, stat.size, opts.maxFileBytes);
  if (!read) return "changed while it was read";
  node.mode = stat.mode & 0o777;
  remember(node, stat, read.oid);
  opts.take(read.content, read.oid, node, at);
  return undefined;
}

/** The same object as long as the file and what lies above it are the same. */
function rulesHere(dir: DirNode, path: RawPath, full: RawPath, parent: Rules | undefined): Rules | undefined {
  const file = `${full}/.gitignore`;
  const stat = look(file);
  if (!stat?.isFile()) return parent;
  const key = `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}`;
  const settled = Math.max(stat.mtimeMs, stat.ctimeMs) < Date.now() - RACY_MS;
  if (dir.own && settled && dir.own.key === key && dir.own.parent === parent) return dir.own.rules;
  const rules: Rules = { parent, base: path, list: parseRules(ignoreText(atSystem(file)) ?? "") };
  dir.own = { key: settled ? key : "", parent, rules };
  return rules;
}
