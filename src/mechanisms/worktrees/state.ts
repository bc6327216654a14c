// What is true of a worktree: changes, commits that are nowhere else, operations that go on.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { branchOf, type WorktreeState } from "./port.ts";
import { checkInPlace, isRegistered, type Registered } from "./registered.ts";
import { type Git, NOT_INTO_SUBMODULES } from "./repository.ts";

export const OPERATIONS: [file: string, name: string][] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
  ["sequencer", "sequence of commits"],
  ["index.lock", "run of git"],
];

export interface Changes extends Pick<WorktreeState, "staged" | "unstaged" | "untracked"> {
  /** Of the unstaged ones, those that are simply not there. */
  missing: number;
  ignoredFiles: string[];
  ignoredFolders: string[];
}

/** Contract: the registered tree, in its place; throws `refused` when it is not. Changes nothing. */
export async function worktreesState(
  git: Git,
  { name, path, registered: { admin, lock } }: { name: string; path: string; registered: Registered },
): Promise<WorktreeState> {
  checkInPlace(path, admin);
  const branch = branchOf(name);
  const { missing: _, ...changes } = await changesIn(git, path, admin);
  const at = (await git(["rev-parse", "--abbrev-ref", "HEAD"], { gitDir: admin })).trim();
  const operation = OPERATIONS.find(([file]) => isRegistered(join(admin, file)))?.[1];
  return {
    name,
    path,
    branch,
    head: (await git(["rev-parse", "--verify", `refs/heads/${branch}^{commit}`])).trim(),
    ...(at === branch ? {} : { elsewhere: at === "HEAD" ? "no branch" : at }),
    ...changes,
    unmerged: await unmergedIn(git, admin, branch),
    ...(operation === undefined ? {} : { operation }),
    ...(lock && !lock.ours ? { lockedBy: lock.reason } : {}),
    ...(lock?.ours && lock.phase === "kept for review" ? { kept: lock.note } : {}),
  };
}

/** HEAD counts beside the branch: commits of a detached HEAD go with the worktree. */
const unmergedIn = async (git: Git, admin: string, branch: string): Promise<number> =>
  countUnmerged(git, branch, ["HEAD", "--glob=refs/worktree/*"], admin);

/** Of the branch, and of what else is named. */
export async function countUnmerged(git: Git, branch: string, more: string[] = [], gitDir?: string): Promise<number> {
  const args = ["rev-list", "--count", `refs/heads/${branch}`, ...more, "--not", `--exclude=${branch}`];
  return Number(await git([...args, "--branches", "--remotes"], gitDir === undefined ? {} : { gitDir }));
}

export async function changesIn(git: Git, path: string, admin: string): Promise<Changes> {
  const place = { gitDir: admin, tree: path };
  const args = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching"];
  const entries = (await git([...args, NOT_INTO_SUBMODULES], place)).split("\0");
  const found: Changes = { staged: 0, unstaged: 0, untracked: 0, missing: 0, ignoredFiles: [], ignoredFolders: [] };
  let isFormerName = false;
  for (const entry of entries) {
    if (isFormerName) {
      isFormerName = false;
      continue;
    }
    const kind = entry[0];
    if (kind === "?") found.untracked++;
    else if (kind === "!") noteIgnored(found, path, entry.slice(2));
    else if (kind === "1" || kind === "2" || kind === "u") {
      if (entry[2] !== ".") found.staged++;
      if (entry[3] !== ".") found.unstaged++;
      if (entry[2] === "." && entry[3] === "D") found.missing++;
      isFormerName = kind === "2"; // the next one is the name it had before
    }
  }
  found.unstaged += await hiddenIn(git, place);
  return found;
}

/** Whole folders that git ignores can be made again; a single file may be all there is. A link holds nothing. */
function noteIgnored(found: Changes, path: string, name: string): void {
  if (name.endsWith("/")) found.ignoredFolders.push(name);
  else if (!lstatSync(join(path, name), { throwIfNoEntry: false })?.isSymbolicLink()) found.ignoredFiles.push(name);
}

/** Files that git was told not to look at: nobody can say that they are unchanged. */
async function hiddenIn(git: Git, place: { gitDir: string; tree: string }): Promise<number> {
  const listed = (await git(["ls-files", "-v", "-z"], place)).split("\0");
  return listed.filter((entry) => /^[a-zS] /.test(entry) && isRegistered(join(place.tree, entry.slice(2)))).length;
}
