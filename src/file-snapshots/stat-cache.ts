// The stat cache: what the last scan of the root found, kept between processes. Without it everything is read again, and nothing else is lost.
import fs from "node:fs";
import path from "node:path";
import type { RawPath } from "./names.ts";
import { type DirNode, newDir } from "./scan.ts";

type Kept = [
  ...[name: RawPath, mode: number, size: number, mtimeMs: number, ctimeMs: number, ino: number, oid: string],
  sameSinceMs?: number,
];
type KeptDir = [name: RawPath, mode: number, files: Kept[], links: Kept[], dirs: KeptDir[], tree: string];

/** 1: trees of folders of which not everything was kept. */
const VERSION = 2;

/** Contract: a cache that cannot be read counts as empty. */
export function loadLook(dir: string, root: string): DirNode {
  try {
    const kept = JSON.parse(fs.readFileSync(path.join(dir, "look.json"), "latin1")) as {
      v: number;
      root: string;
      top: KeptDir;
    };
    return kept.v === VERSION && kept.root === root ? unpack(kept.top) : newDir();
  } catch {
    return newDir();
  }
}

/** Contract: whole or not at all; not synced, because it may be lost. */
export async function storeLook(dir: string, root: string, top: DirNode): Promise<void> {
  const file = path.join(dir, "look.json");
  const fresh = `${file}.${process.pid}`;
  await fs.promises.writeFile(fresh, JSON.stringify({ v: VERSION, root, top: pack("", top) }), {
    mode: 0o600,
    encoding: "latin1",
  });
  await fs.promises.rename(fresh, file);
}

/** The tree of a folder is kept only where every entry of the folder is kept too: an entry that was left out could vanish before the next scan, and nothing would show it. */
function pack(name: RawPath, dir: DirNode): KeptDir {
  const kept: KeptDir = [name, dir.mode, [], [], [], dir.tree ?? ""];
  for (const [child, node] of dir.children) {
    if (node.kind === "dir") kept[4].push(pack(child, node));
    else if (node.oid === "" || node.racy || node.forced) kept[5] = "";
    else {
      const { mode, size, mtimeMs, ctimeMs, ino, oid, sameSinceMs } = node;
      const one: Kept = [child, mode, size, mtimeMs, ctimeMs, ino, oid];
      if (sameSinceMs !== undefined) one.push(sameSinceMs);
      kept[node.kind === "file" ? 2 : 3].push(one);
    }
  }
  return kept;
}

function unpack([, mode, files, links, dirs, tree]: KeptDir): DirNode {
  const dir = newDir();
  dir.mode = mode;
  if (tree) dir.tree = tree;
  const add = (kind: "file" | "link", list: Kept[]) => {
    for (const [name, mode, size, mtimeMs, ctimeMs, ino, oid, sameSinceMs] of list) {
      const since = sameSinceMs === undefined ? {} : { sameSinceMs };
      dir.children.set(name, { kind, mode, size, mtimeMs, ctimeMs, ino, oid, racy: false, ...since });
    }
  };
  add("file", files);
  add("link", links);
  for (const kept of dirs) dir.children.set(kept[0], unpack(kept));
  return dir;
}
