// The repositories inside the tree that git looks into when it looks at the whole: which they are, and what of them a command sees and may change.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { readIndex } from "../../file-snapshots/git-index.ts";
import { findRepository } from "../../file-snapshots/repository.ts";
import { submodulePaths } from "./git-config-text.ts";
import { changedAt, exists, isFile, isPlain, pinned } from "./mounts.ts";
import type { Guarding } from "./repository.ts";

/** In a tree, and in those that are in it: what the index has as a commit of another repository, and what `.gitmodules` names. */
export type Submodules = (root: string) => string[];

/** Nobody has more; a tree that says otherwise costs no more time than this. */
const MOST = 2_000;

/** Contract: reads anew only when something changed. */
export function createSubmodules(): Submodules {
  const known = new Map<string, { files: string[]; seen: string; dirs: string[] }>();
  return (root) => {
    const last = known.get(root);
    if (last && last.seen === last.files.map(changedAt).join()) return last.dirs;
    const files: string[] = [];
    const seen: string[] = [];
    const dirs = new Set([root]);
    for (const dir of dirs) {
      const repository = findRepository(dir);
      const isOwn = repository !== undefined && (dir === root || repository.top === dir);
      // Looked at first: what changes meanwhile is seen the next time.
      for (const file of [
        join(dir, ".git"),
        join(dir, ".gitmodules"),
        ...(isOwn ? [join(repository.gitDir, "index")] : []),
      ]) {
        files.push(file);
        seen.push(changedAt(file));
      }
      for (const one of isOwn ? [...namedIn(dir), ...linkedIn(repository)] : [])
        if (isInside(root, one) && dirs.size <= MOST) dirs.add(one);
    }
    dirs.delete(root);
    const found = { files, seen: seen.join(), dirs: [...dirs] };
    known.set(root, found);
    return found.dirs;
  };
}

function namedIn(root: string): string[] {
  try {
    return submodulePaths(readFileSync(join(root, ".gitmodules"), "utf8")).map((path) => resolve(root, path));
  } catch {
    return [];
  }
}

function linkedIn({ top, gitDir }: { top: string; gitDir: string }): string[] {
  try {
    const links = readIndex(gitDir).filter(({ isLink }) => isLink);
    return links.map(({ path }) => join(top, Buffer.from(path, "latin1").toString("utf8")));
  } catch {
    return []; // git has none either, or cannot read it
  }
}

/**
 * Git runs what the settings of such a repository say, so no command gives it others. In a call that has the network they are not seen at
 * all: where a command can have made them, they are empty. Gives what is to be looked at again.
 */
export function guardSubmodules(root: string, on: Guarding, opts: { dirs: string[]; isHidden: boolean }): string[] {
  const dirs = opts.dirs.filter(isPlain);
  const links = dirs.map((dir) => join(dir, ".git"));
  const unseen = opts.isHidden ? dirs.filter((dir) => !on.unsure.has(dir) && !isUsers(root, dir)) : [];
  for (const dir of unseen) {
    on.layers.push({ path: dir, how: "mask", args: ["--tmpfs", dir, "--remount-ro", dir] });
    on.watch(dir);
  }
  const seen = links.filter((link) => !unseen.some((dir) => isInside(dir, link)));
  const above = pinned(root, [...seen.filter(exists).map(dirname), ...unseen.map(dirname)], on.unsure);
  on.unmade.push(...above.unmade);
  on.layers.push(...above.layers);
  for (const path of seen) on.guard(path);
  return links;
}

/** Kept where git itself keeps it, in the repository of the whole: its settings are out of the reach of commands. */
function isUsers(root: string, dir: string): boolean {
  try {
    const gitDir = findRepository(root)?.gitDir;
    // What a worktree keeps of its own submodules, git's commands there may write.
    if (gitDir === undefined || exists(join(gitDir, "commondir")) || !isFile(join(dir, ".git"))) return false;
    const to = /^gitdir: (.+)$/m.exec(readFileSync(join(dir, ".git"), "utf8"))?.[1]?.trim();
    return to !== undefined && isInside(join(gitDir, "modules"), resolve(dir, to));
  } catch {
    return false;
  }
}

/** For git in a call with a grant: it neither looks into other repositories by itself nor takes them along. */
const SETTINGS: [key: string, value: string][] = [
  ["diff.ignoreSubmodules", "dirty"],
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["core.fsmonitor", "false"],
];

/** Arguments of bubblewrap. */
export const notIntoSubmodules = (): string[] => [
  ...["--setenv", "GIT_CONFIG_COUNT", `${SETTINGS.length}`],
  ...SETTINGS.flatMap(([key, value], i) => [
    ...["--setenv", `GIT_CONFIG_KEY_${i}`, key],
    ...["--setenv", `GIT_CONFIG_VALUE_${i}`, value],
  ]),
];
