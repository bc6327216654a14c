// Owns the question where commands of the sandbox can write, for whoever tells people about it.
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../../tools/paths.ts";
import { realOr } from "./mounts.ts";
import { ownInstall, ownPlacesIn } from "./own-install.ts";
import type { SandboxOptions } from "./sandbox.ts";
import { PROTECTED } from "./sandbox-places.ts";

/** Whether a command could change that file, or put another in its place. */
export function canWrite(sandbox: SandboxOptions, path: string): boolean {
  const trees = [sandbox.root, ...(sandbox.writable ?? [])].map(realOr);
  const at = join(realOr(dirname(path)), basename(path)); // a link may be replaced, whatever it leads to
  return [at, realOr(path)].some((one) => {
    const tree = trees.find((root) => isInside(root, one));
    if (tree === undefined) return false;
    const first = relative(tree, one).split("/")[0]!;
    const isProtected = tree === trees[0] && PROTECTED.includes(first);
    return !isProtected && !ownPaths(sandbox).some((own) => isInside(own, one));
  });
}

/** Which of our own files lie where commands write otherwise, and are read-only there. */
export function ownPaths({ root, writable = [], own = ownInstall() }: SandboxOptions): string[] {
  if (!own) return [];
  const allowed = writable.map(realOr);
  return [...new Set([realOr(root), ...allowed])].flatMap((tree) => ownPlacesIn(tree, own, allowed).paths);
}
