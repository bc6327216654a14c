// What a checkpoint is made of: git trees for names, links and content, and a manifest for what git does not keep.
import { HoldfastError } from "../ledger/error.ts";
import { joined, type RawPath } from "./names.ts";
import { type ObjectStore, readFor } from "./objects.ts";
import type { Oid } from "./pack.ts";
import type { OutsideRules } from "./repository.ts";
import { type DirNode, isExec, type Left, sinceOf } from "./scan.ts";

export interface TreeEntry {
  kind: "file" | "link" | "dir";
  /** Permission bits; 0 for links. */
  mode: number;
  /** Empty for folders. */
  oid: Oid;
  /** Since when a file or link is as it is; a checkpoint says it only of what changed since its `since`. */
  at?: number;
  /** Of a file or link as it was just looked at: another by now means that it was touched meanwhile. */
  ctimeMs?: number;
}

export type Entries = Map<RawPath, TreeEntry>;

/** Beside the tree of files, in the same object that names a checkpoint. */
export interface Manifest {
  v: 1;
  partial: boolean;
  /** The modes that most have; `odd` lists the others. */
  modes: { file: number; exec: number; dir: number };
  odd: [RawPath, number][];
  left: [RawPath, string][];
  /** Ignore rules from outside the root that were in force. */
  outside: OutsideRules;
  /** When each file was last changed, of those that were since the time that was asked for. Missing: nobody asked, or there were too many. */
  changed?: { files: [RawPath, number][] };
}

const MODES = { file: "100644", exec: "100755", link: "120000", dir: "40000" } as const;

/** Contract: every object that it names is put; names files whose content is known. */
export function writeTree(dir: DirNode, store: ObjectStore): Oid {
  if (dir.tree && store.has(dir.tree)) return dir.tree;
  const lines: { key: string; head: string; oid: Oid }[] = [];
  for (const [name, node] of dir.children) {
    if (node.kind === "dir")
      lines.push({ key: `${name}/`, head: `${MODES.dir} ${name}\0`, oid: writeTree(node, store) });
    else if (node.oid !== "") {
      const mode = node.kind === "link" ? MODES.link : isExec(node) ? MODES.exec : MODES.file;
      lines.push({ key: name, head: `${mode} ${name}\0`, oid: node.oid });
    }
  }
  dir.tree = store.put("tree", treeBytes(lines));
  return dir.tree;
}

export function writeMark(files: Oid, manifest: Manifest, store: ObjectStore): Oid {
  const text = store.put("blob", Buffer.from(JSON.stringify(manifest)));
  return store.put(
    "tree",
    treeBytes([
      { key: "files/", head: `${MODES.dir} files\0`, oid: files },
      { key: "manifest", head: `${MODES.file} manifest\0`, oid: text },
    ]),
  );
}

function treeBytes(lines: { key: string; head: string; oid: Oid }[]): Buffer {
  lines.sort((a, b) => (a.key < b.key ? -1 : 1));
  const bytes = Buffer.allocUnsafe(lines.reduce((sum, line) => sum + line.head.length + 20, 0));
  let at = 0;
  for (const { head, oid } of lines) {
    at += bytes.write(head, at, "latin1");
    at += bytes.write(oid, at, "hex");
  }
  return bytes;
}

/** What the manifest says about modes, and how much there is. */
export function countUp(top: DirNode): {
  files: number;
  bytes: number;
  modes: Manifest["modes"];
  odd: Manifest["odd"];
} {
  const counts = { file: new Map<number, number>(), exec: new Map<number, number>(), dir: new Map<number, number>() };
  const count = (kind: keyof typeof counts, mode: number) => counts[kind].set(mode, (counts[kind].get(mode) ?? 0) + 1);
  let files = 0;
  let bytes = 0;
  const visit = (dir: DirNode) => {
    count("dir", dir.mode);
    for (const node of dir.children.values()) {
      if (node.kind === "dir") visit(node);
      else if (node.oid !== "") {
        files++;
        bytes += node.size;
        if (node.kind === "file") count(isExec(node) ? "exec" : "file", node.mode);
      }
    }
  };
  visit(top);
  const most = (modes: Map<number, number>, otherwise: number) =>
    [...modes].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0]?.[0] ?? otherwise;
  const modes = { file: most(counts.file, 0o644), exec: most(counts.exec, 0o755), dir: most(counts.dir, 0o755) };
  const odd: Manifest["odd"] = [];
  if (Object.values(counts).some((c) => c.size > 1)) {
    for (const [path, entry] of entriesOf(top))
      if (entry.kind !== "link" && entry.mode !== usual(entry, modes)) odd.push([path, entry.mode]);
  }
  return { files, bytes, modes, odd };
}

/** With more entries than this the times are left out: the list would be larger than what it describes. */
const MOST_CHANGED = 20_000;

/** What was changed since then, and when. Not `since` itself: two contexts in an unchanged folder have one mark, written once. */
export function changedSince(top: DirNode, since: number): Manifest["changed"] {
  const files: [RawPath, number][] = [];
  const visit = (dir: DirNode, path: RawPath) => {
    for (const [name, node] of dir.children) {
      if (node.kind === "dir") visit(node, joined(path, name));
      else if (sinceOf(node) >= since && node.oid !== "") files.push([joined(path, name), Math.floor(sinceOf(node))]);
      if (files.length > MOST_CHANGED) return;
    }
  };
  visit(top, "");
  return files.length > MOST_CHANGED ? undefined : { files };
}

const usual = (entry: { kind: string; mode: number }, modes: Manifest["modes"]): number =>
  entry.kind === "dir" ? modes.dir : (entry.mode & 0o100) !== 0 ? modes.exec : modes.file;

/** The root itself is "". */
export function entriesOf(top: DirNode): Entries {
  const entries: Entries = new Map();
  const visit = (dir: DirNode, path: RawPath) => {
    entries.set(path, { kind: "dir", mode: dir.mode, oid: "" });
    for (const [name, node] of dir.children) {
      const at = joined(path, name);
      if (node.kind === "dir") visit(node, at);
      else if (node.oid !== "") {
        const { kind, mode, oid, ctimeMs } = node;
        entries.set(at, { kind, mode, oid, at: sinceOf(node), ctimeMs });
      }
    }
  };
  visit(top, "");
  return entries;
}

/** Contract: `damaged` when something of the structure is missing; content is not looked at. */
export async function readMark(
  id: Oid,
  store: ObjectStore,
): Promise<{ entries: Entries; manifest: Manifest; trees: Oid[] }> {
  if (!/^[0-9a-f]{40}$/.test(id))
    throw new HoldfastError("invalid", "that is no checkpoint of files: take one from the list");
  const parts = new Map(parseTree(await readOne(id, store)).map((e) => [e.name, e.oid]));
  const manifestText = (await readOne(parts.get("manifest") ?? "", store)).toString("utf8");
  const manifest = JSON.parse(manifestText) as Manifest;
  const changed = new Map(manifest.changed?.files);
  const odd = new Map(manifest.odd);
  const entries: Entries = new Map([["", { kind: "dir", mode: odd.get("") ?? manifest.modes.dir, oid: "" }]]);
  const trees: Oid[] = [id, parts.get("manifest") ?? ""];
  for (let level = [{ path: "", oid: parts.get("files") ?? "" }]; level.length > 0; ) {
    const next: typeof level = [];
    for (const { item: tree, bytes } of await readAll(level, store)) {
      trees.push(tree.oid);
      for (const { mode, name, oid } of parseTree(bytes)) {
        const path = joined(tree.path, name);
        if (mode === MODES.dir) {
          entries.set(path, { kind: "dir", mode: odd.get(path) ?? manifest.modes.dir, oid: "" });
          next.push({ path, oid });
        } else if (mode === MODES.link) entries.set(path, { kind: "link", mode: 0, oid, at: changed.get(path) });
        else {
          const plain = mode === MODES.exec ? manifest.modes.exec : manifest.modes.file;
          entries.set(path, { kind: "file", mode: odd.get(path) ?? plain, oid, at: changed.get(path) });
        }
      }
    }
    level = next;
  }
  return { entries, manifest, trees };
}

async function readAll<T extends { oid: Oid }>(
  items: readonly T[],
  store: ObjectStore,
): Promise<{ item: T; bytes: Buffer }[]> {
  const found: { item: T; bytes: Buffer }[] = [];
  await readFor(store, items, (item, bytes) => {
    if (!bytes) throw partGone(item.oid);
    found.push({ item, bytes });
  });
  return found;
}

async function readOne(oid: Oid, store: ObjectStore): Promise<Buffer> {
  for (const { bytes } of await readAll([{ oid }], store)) return bytes;
  throw partGone(oid);
}

const partGone = (oid: Oid): HoldfastError =>
  new HoldfastError("damaged", `a part of this checkpoint (${oid.slice(0, 12)}) is gone: take another`);

function parseTree(bytes: Buffer): { mode: string; name: RawPath; oid: Oid }[] {
  const entries: { mode: string; name: RawPath; oid: Oid }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at);
    const end = bytes.indexOf(0, space);
    entries.push({
      mode: bytes.toString("latin1", at, space),
      name: bytes.toString("latin1", space + 1, end),
      oid: bytes.toString("hex", end + 1, end + 21),
    });
    at = end + 21;
  }
  return entries;
}

export const leftOf = (left: Left[]): Manifest["left"] => left.map(({ path, why }) => [path, why]);
