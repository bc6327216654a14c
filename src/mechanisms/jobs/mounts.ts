// What arguments of bubblewrap are made of: looking at paths, binding, masking, and telling one file from another in its place.
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside } from "../../file-access/paths.ts";

/** A path that is gone is as it is: whoever starts a command there is told so. */
export function realOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Numbers are given again: the time of its birth tells a file from another one in its place; where none is kept, that of its last change. */
export function fileIdentity(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}:${stat.birthtimeMs || stat.ctimeMs}` : "";
}

export function changedAt(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino}:${stat.ctimeNs}` : ""; // a command can set the other time
}

export function mountTable(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "latin1");
  } catch {
    return "";
  }
}

/** An empty directory hides nothing: one mount less. */
export const hidden = (...paths: string[]): string[] =>
  paths.filter((path) => isDirectory(path) && !isEmpty(path)).flatMap((path) => ["--tmpfs", path]);

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** What is mounted at a path; the later ones hold where two are. */
export interface MountLayer {
  path: string;
  /** Nothing of the machine is seen there · a tree · a directory held in its place · read-only in a tree · hidden, where it would be seen. */
  how: "private" | "tree" | "pin" | "guard" | "mask";
  args: string[];
}

/** Whether something of the machine is seen there. */
export const isShown = (layers: readonly MountLayer[], path: string): boolean =>
  inOrder(layers).findLast((layer) => layer.how !== "mask" && isInside(layer.path, path))?.how !== "private";

const ORDER: MountLayer["how"][] = ["private", "tree", "pin", "guard", "mask"];

/** What lies deeper comes later, so that it holds. */
function inOrder(layers: readonly MountLayer[]): MountLayer[] {
  const depth = ({ path }: MountLayer) => path.split("/").length;
  return layers.toSorted((a, b) => depth(a) - depth(b) || ORDER.indexOf(a.how) - ORDER.indexOf(b.how));
}

export function layered(layers: readonly MountLayer[]): string[] {
  const ordered = inOrder(layers);
  const guards = ordered.filter(({ how }) => how === "guard");
  const isIdle = ({ path, how }: MountLayer) =>
    (how === "mask" && !isShown(ordered, path)) ||
    (how === "pin" && guards.some((guard) => isInside(guard.path, path)));
  const seen = new Set<string>();
  return ordered.flatMap((layer) => {
    const key = layer.args.join("\0");
    if (isIdle(layer) || seen.has(key)) return [];
    seen.add(key);
    return layer.args;
  });
}

export const tree = (path: string, bind: "--bind" | "--ro-bind" = "--bind"): MountLayer => ({
  path,
  how: "tree",
  args: [bind, path, path],
});
export const guardAt = (path: string, from = path): MountLayer => ({
  path,
  how: "guard",
  args: ["--ro-bind", from, path],
});
export const maskAt = (path: string): MountLayer => ({ path, how: "mask", args: mask(path) });

/** From the tree down to these directories, in which something is masked or guarded: as mount points they cannot be moved, and it with them. */
export function pinned(
  within: string,
  dirs: string[],
  unsure: ReadonlySet<string>,
): { unmade: string[]; layers: MountLayer[] } {
  const all = new Set<string>();
  for (const path of dirs)
    for (let dir = path; dir !== within && isInside(within, dir); dir = dirname(dir)) all.add(dir);
  const isSure = (dir: string) => isPlain(dir) && !unsure.has(dir);
  return {
    unmade: [...all].filter((dir) => !isSure(dir)),
    layers: [...all].filter(isSure).map((path) => ({ path, how: "pin", args: ["--bind", path, path] })),
  };
}

/** What is there becomes empty; a mount leaves nothing behind. */
export function mask(path: string): string[] {
  if (!existsSync(path)) return [];
  return isDirectory(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

/** Every name that begins so, of those that this user could read at all: commands have the user's rights and no more. */
export function maskBeginning(prefix: string): string[] {
  const dir = dirname(prefix);
  const names = entriesOfDir(dir).filter((name) => name.startsWith(basename(prefix)));
  return names
    .map((name) => join(dir, name))
    .filter(isReachable)
    .flatMap(mask);
}

/** A directory that cannot be listed may still be entered. */
const isReachable = (path: string): boolean =>
  [constants.R_OK, constants.X_OK].some((right) => {
    try {
      accessSync(path, right);
      return true;
    } catch {
      return false;
    }
  });

export function entriesOfDir(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

export const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

export const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** A directory, with no link on the way to it that a command could have made. */
export const isPlain = (path: string): boolean =>
  (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false) && realOr(path) === path;

export function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // a loop of links, no right to look
  }
}
