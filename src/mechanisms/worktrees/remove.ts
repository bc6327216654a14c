// Removing a worktree: only what is whole elsewhere goes, only by git's own careful removal, and the branch stays.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { crashPoint } from "../../ledger/crash-point.ts";
import { messageOf } from "../../ledger/error.ts";
import { openDir, ownPlan, type WorktreePlace } from "./make.ts";
import { branchOf, checkWorktreeName, type Removal, type RemovalPlan, stateLines, type WorktreeState } from "./port.ts";
import {
  dropLeftovers,
  findRegistered,
  isRegistered,
  type Lock,
  type Registered,
  reasonOf,
  writeLock,
} from "./registered.ts";
import { type Git, openGit, repositoryOf, type WorktreeRepository } from "./repository.ts";
import { changesIn, worktreesState } from "./state.ts";
import { inTurn } from "./turns.ts";

const NAMED = 5;

/** What git knows of it. Contract: throws `refused` for anything that was not made here, by us. */
export function registeredAt(main: WorktreeRepository, name: string, path: string): Registered {
  const registered = findRegistered(main.common, path);
  if (registered) return registered;
  throw refused(
    isRegistered(path)
      ? `${path} is no worktree of this project's repository: look at it yourself, nothing is touched`
      : `there is no worktree ${name}: see \`git worktree list\``,
  );
}

async function judged(git: Git, main: WorktreeRepository, name: string, place: WorktreePlace, opts: Removal) {
  checkWorktreeName(name);
  const path = join(openDir(place.dir), name);
  const registered = registeredAt(main, name, path);
  const state = await worktreesState(git, { name, path, registered });
  const reasons = [...stateLines(state), ...ignoredLines(state, opts), ...(await opts.usedBy(path))];
  if (reasons.length > 0) throw refused(`the worktree ${name} stays: ${reasons.join("; ")}. ${whatToDo(state, opts)}`);
  return { state, registered };
}

function ignoredLines({ ignoredFiles }: WorktreeState, { discardIgnored, byPerson }: Removal): string[] {
  if (ignoredFiles.length === 0 || discardIgnored) return [];
  const shown = ignoredFiles.slice(0, NAMED).join(", ") + (ignoredFiles.length > NAMED ? ", …" : "");
  const flag = byPerson ? "--discard-ignored" : "discard_ignored";
  return [`${ignoredFiles.length} files that git ignores would be lost (${shown}): move them, or give ${flag}`];
}

function whatToDo(state: WorktreeState, { byPerson }: Removal): string {
  const { name, path, branch, unmerged, staged, unstaged, untracked, elsewhere } = state;
  const merge = byPerson ? `holdfast worktrees merge ${name}` : `git merge ${branch}`;
  const steps = [
    ...(staged + unstaged + untracked > 0 ? [`commit or discard the changes in ${path}`] : []),
    ...(elsewhere === "no branch" ? ["put the commits of its detached HEAD on a branch"] : []),
    ...(unmerged > 0 ? [`merge it (${merge}) or push it`] : []),
  ];
  return steps.length > 0
    ? `First ${steps.join(", then ")}${byPerson ? "" : "; or keep_worktree"}`
    : "Nothing was changed";
}

export async function planRemoval(place: WorktreePlace, name: string, opts: Removal): Promise<RemovalPlan> {
  checkWorktreeName(name);
  const main = repositoryOf(place.root);
  const { state, registered } = await judged(await openGit(main, place.dir), main, name, place, opts);
  const { path, head } = state;
  return { name, path, branch: branchOf(name), head, lock: registered.lock ? textOfLock(registered.lock) : null };
}

export async function removeWorktree(place: WorktreePlace, plan: RemovalPlan, opts: Removal): Promise<WorktreeState> {
  const { name, path } = ownPlan(place, plan);
  return inTurn({ dir: openDir(place.dir), name }, async ({ descriptor }) => {
    const main = repositoryOf(place.root);
    const git = await openGit(main, place.dir, descriptor);
    const { state, registered } = await judged(git, main, name, place, opts);
    crashPoint("worktree.judged");
    const { lock, admin } = registered;
    if (lock) await git(["worktree", "unlock", path]);
    crashPoint("worktree.unlocked");
    try {
      await git(["worktree", "remove", path]);
    } catch (error) {
      if (lock && isRegistered(admin)) writeLock(admin, textOfLock(lock));
      throw refused(`the worktree ${name} stays, git does not removeWorktree it: ${messageOf(error)}`);
    }
    crashPoint("worktree.removed");
    return state;
  });
}

const textOfLock = (lock: Lock): string => (lock.ours ? reasonOf(lock.phase, lock.mark, lock.note) : lock.reason);

/** Contract: true when it is gone; false when it is there, whole and locked, and may be judged anew. */
export async function resumeRemoval(place: WorktreePlace, given: RemovalPlan): Promise<boolean> {
  const plan = ownPlan(place, given);
  return inTurn({ dir: openDir(place.dir), name: plan.name }, async ({ descriptor }) => {
    const { path } = plan;
    const main = repositoryOf(place.root);
    const registered = findRegistered(main.common, path);
    if (!registered) {
      if (isRegistered(path)) throw refused(`git no longer knows ${path}, but something is there: look at it yourself`);
      return true;
    }
    if (registered.lock || plan.lock === null) return false;
    const { admin } = registered;
    const git = await openGit(main, place.dir, descriptor);
    dropLeftovers(admin, { index: false });
    if (!isRegistered(path)) {
      await git(["worktree", "remove", path]); // only git's own notes of it are left
      return true;
    }
    writeLock(admin, plan.lock);
    await bringBack(git, path, admin);
    return false;
  });
}

/** A removal that was cut off took some files: they come back from the index, and nothing that is there is touched. */
async function bringBack(git: Git, path: string, admin: string): Promise<void> {
  if (!isRegistered(join(path, ".git"))) writeFileSync(join(path, ".git"), `gitdir: ${admin}\n`, { flag: "wx" });
  const { missing } = await changesIn(git, path, admin);
  if (missing > 0) await git(["checkout-index", "--all", "--quiet"], { gitDir: admin, tree: path });
}
