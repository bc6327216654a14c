// What a command may change of the repository it works in, and where that is.
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import type { GitUse } from "./git-use.ts";
import { exists, guardAt, isDirectory, isFile, isPlain, type MountLayer, pinned, tree } from "./mounts.ts";
import { GIT_PROTECTED, GIT_UNFINISHED } from "./sandbox-places.ts";

/** The parts of a sandbox that is being put together. */
export interface Guarding {
  unsure: ReadonlySet<string>;
  /** Makes a path read-only; one that is not there yet is removed if a command makes it. */
  guard(path: string): void;
  layers: MountLayer[];
  unmade: string[];
  /** When the file at this path is replaced, the sandbox is made anew. */
  watch(path: string): void;
  /** A link that is restored if a command removes or changes it. */
  keep(path: string): void;
}

/** Where it is kept: for a worktree outside the tree. Contract: `.git` itself is guarded by the caller when the command may change nothing of it. */
export function guardRepository(root: string, git: GitUse, on: Guarding): string {
  const elsewhere = gitElsewhere(root);
  const inside = elsewhere ? undefined : gitInside(root);
  const at = elsewhere?.common ?? inside ?? join(root, ".git");
  const mayChange = git !== "none";
  // What a command made a link is nobody's to mount: it would be followed. A mount point cannot be moved away, nor another put in its place.
  const isSure = (path: string) => isPlain(path) && !on.unsure.has(path);
  if (inside !== undefined && isSure(inside)) {
    const above = pinned(root, [dirname(inside)], on.unsure);
    on.unmade.push(...above.unmade);
    on.layers.push(...above.layers, ...(mayChange ? [] : [guardAt(inside)]));
    on.watch(inside);
    if (mayChange && isFile(join(root, ".git"))) on.guard(join(root, ".git"));
    else if (mayChange) on.keep(join(root, ".git"));
  }
  if (mayChange && isSure(at)) {
    if (!elsewhere) on.layers.push(tree(at));
    guardInside(at, git, on);
    // Read-only: a command must not change the repository's records of other worktrees.
    const others = join(at, "worktrees");
    if (isSure(others)) on.layers.push(guardAt(others));
    else on.unmade.push(others);
  } else if (mayChange && isFile(join(root, ".git"))) on.guard(join(root, ".git"));
  else if (mayChange) on.unmade.push(at);
  if (elsewhere) on.layers.push(tree(elsewhere.common, mayChange ? "--bind" : "--ro-bind"));
  if (mayChange && elsewhere) {
    on.guard(join(root, ".git"));
    on.layers.push(tree(elsewhere.own));
    for (const name of ["commondir", "gitdir", "config.worktree"]) on.guard(join(elsewhere.own, name));
    if (git !== "sequence") for (const name of GIT_UNFINISHED) on.guard(join(elsewhere.own, name));
  }
  return at;
}

function guardInside(at: string, git: GitUse, on: Guarding): void {
  for (const name of git === "sequence" ? GIT_PROTECTED : [...GIT_PROTECTED, ...GIT_UNFINISHED]) {
    const path = join(at, name);
    // Its parent folders are pinned: otherwise a command could move one away and make another in its place.
    const above = exists(path) ? pinned(at, [dirname(path)], on.unsure) : { unmade: [], layers: [] };
    on.unmade.push(...above.unmade);
    on.layers.push(...above.layers);
    on.guard(path);
  }
}

/** A worktree keeps its state in the repository it belongs to. */
function gitElsewhere(root: string): { common: string; own: string } | undefined {
  try {
    if (isDirectory(join(root, ".git"))) return undefined;
    const dir = /^gitdir: (.+)$/m.exec(readFileSync(join(root, ".git"), "utf8"))?.[1]?.trim();
    const own = dir && realpathSync.native(join(dir.startsWith("/") ? "/" : root, dir));
    if (!own) return undefined;
    const common = /^(.+)\/worktrees\/[^/]+$/.exec(own)?.[1];
    // A repository could name any folder in `.git`: only one whose own record points back here is believed.
    if (common === undefined || readFileSync(join(own, "gitdir"), "utf8").trim() !== join(root, ".git"))
      return undefined;
    return { common, own };
  } catch {
    return undefined;
  }
}

/** A repository in the tree that has another name: where the file or the link `.git` leads. */
function gitInside(root: string): string | undefined {
  try {
    const path = join(root, ".git");
    const isLink = lstatSync(path).isSymbolicLink();
    if (!isLink && !isFile(path)) return undefined;
    const dir = isLink ? path : /^gitdir: (.+)$/m.exec(readFileSync(path, "utf8"))?.[1]?.trim();
    const real = dir && realpathSync.native(resolve(root, dir));
    return real && real !== root && isInside(root, real) && isDirectory(real) ? real : undefined;
  } catch {
    return undefined;
  }
}
