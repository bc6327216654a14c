// The question where commands of the sandbox can write, for whoever tells people about it.
import { basename, dirname, join } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { linksIn, targetOf } from "./linked.ts";
import { realOr } from "./mounts.ts";
import { ownInstall, ownPlacesIn } from "./own-install.ts";
import type { SandboxOptions } from "./sandbox.ts";
import { PROTECTED } from "./sandbox-places.ts";

/** Whether a command could change that file, or put another in its place. */
export function canWrite(sandbox: SandboxOptions, path: string): boolean {
  const root = realOr(sandbox.root);
  const trees = [root, ...(sandbox.writable ?? []).map(realOr)];
  const at = join(realOr(dirname(path)), basename(path)); // a link may be replaced, whatever it leads to
  return [at, realOr(path)].some((one) => {
    if (!trees.some((tree) => isInside(tree, one))) return false;
    return ![...protectedIn(root), ...ownPaths(sandbox)].some((path) => isInside(path, one));
  });
}

/** With what links there lead to, but for a whole tree. */
function protectedIn(root: string): string[] {
  const paths = PROTECTED.map((name) => join(root, name));
  const led = paths.flatMap((path) => [realOr(path), ...linksIn(path).links.map(targetOf)]);
  return [...paths, ...led.filter((path) => !isInside(path, root))];
}

/** Which of our own files lie where commands write otherwise, and are read-only there. */
export function ownPaths({ root, writable = [], own = ownInstall() }: SandboxOptions): string[] {
  if (!own) return [];
  const allowed = writable.map(realOr);
  return [...new Set([realOr(root), ...allowed])].flatMap((tree) => ownPlacesIn(tree, own, allowed).paths);
}
