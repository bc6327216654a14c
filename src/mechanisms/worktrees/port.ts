// The port between the worktree tools and the worktrees: what one is, and what can be asked of them.

import { refused } from "../../file-access/refused.ts";
import { counted } from "../../text/counted.ts";

/** The intent of a creation: enough for another process to tell whether it was begun, and to finish it. */
export interface MakePlan {
  name: string;
  path: string;
  branch: string;
  /** Where the branch starts. */
  commit: string;
  /** Which call makes it; git keeps it with the worktree. */
  mark: string;
  /** The tree whose commit that is. */
  from: string;
}

export interface Made {
  /** One line each: what was linked, what was not, what the worktree does not hold. */
  says: string[];
}

/** One that lay on a machine that is gone, made anew here. */
export interface Remade {
  path: string;
  branch: string;
  commit: string;
  /** What it begins at: its branch, as far as that came here, or the project's tree; undefined: it was begun before. */
  begins?: "branch" | "project";
}

export interface RemovalPlan {
  name: string;
  path: string;
  branch: string;
  /** The commit that the branch is at. */
  head: string;
  /** The reason of our lock, for its way back: where it is lifted and the directory still there, the removal had begun. */
  lock: string | null;
}

/** What would be lost, or disturbed. */
export interface WorktreeState {
  name: string;
  path: string;
  branch: string;
  head: string;
  /** Where HEAD is, when not on its branch. */
  elsewhere?: string;
  staged: number;
  unstaged: number;
  untracked: number;
  /** Single files that git ignores; what it ignores as whole folders; links. */
  ignoredFiles: string[];
  ignoredFolders: string[];
  /** Commits in no other branch and in no remote. */
  unmerged: number;
  /** `rebase`, `merge`, … */
  operation?: string;
  /** Why git holds it, when that was not us. */
  lockedBy?: string;
  /** The note of keep_worktree; "" without one. */
  kept?: string;
}

/** Contract: a refusal throws `refused` with what to do, and nothing has changed; everything waits for others at the same name. */
export interface Worktrees {
  /** Contract: changes nothing. `from`: a tree of the repository. */
  planMake(name: string, opts: { from: string; mark: string }): Promise<MakePlan>;
  make(plan: MakePlan): Promise<Made>;
  /** After a crash. Contract: undefined when nothing of it was begun. */
  resumeMake(plan: MakePlan): Promise<Made | undefined>;
  /** For an agent that is to have a tree of its own. Contract: the same one when asked again with the same mark; its path. */
  ensure(name: string, opts: { from: string; mark: string }): Promise<string>;
  /** Contract: as `ensure`; begins at its branch where that is known here. */
  remake(name: string, opts: { from: string; mark: string }): Promise<Remade>;
  planRemoval(name: string, opts: Removal): Promise<RemovalPlan>;
  remove(plan: RemovalPlan, opts: Removal): Promise<WorktreeState>;
  /** After a crash. Contract: false when nothing of it was begun. */
  resumeRemoval(plan: RemovalPlan): Promise<boolean>;
  keep(name: string, note: string): Promise<WorktreeState>;
  look(name: string): Promise<WorktreeState>;
  /** Of one that may be gone. Contract: undefined when there is no such branch. */
  branchLeft(name: string): Promise<{ branch: string; unmerged: number } | undefined>;
  /** Its directory. Contract: throws `refused` when it is not there, or not finished. */
  placeOf(name: string): Promise<string>;
}

export interface Removal {
  /** Single ignored files go with it. */
  discardIgnored: boolean;
  /** A person asks, not an agent: what to do next is said in the words of the command line. */
  byPerson?: boolean;
  /** Who works in it, one phrase each. Asked when nobody can begin to any more. */
  usedBy(path: string): Promise<string[]>;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,40}$/;

/** Contract: throws `refused`. What passes is one component of a path and of a branch's name. */
export function checkWorktreeName(name: string): void {
  const why = wrongIn(name);
  if (why !== undefined) throw refused(`${JSON.stringify(name.slice(0, 60))} cannot be the name of a worktree: ${why}`);
}

export const isWorktreeName = (name: string): boolean => wrongIn(name) === undefined;

function wrongIn(name: string): string | undefined {
  return !NAME.test(name)
    ? "use 1 to 41 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit"
    : name.includes("..")
      ? "it has two dots in a row"
      : name.endsWith(".")
        ? "it ends with a dot"
        : name.endsWith(".lock")
          ? "git keeps names that end with .lock for itself"
          : undefined;
}

export const branchOf = (name: string): string => `holdfast/${name}`;

/** `2 staged, 1 untracked file; 3 commits in no other branch` */
export function stateLines(state: WorktreeState): string[] {
  const { staged, unstaged, untracked, unmerged } = state;
  const changes = [
    ...(staged > 0 ? [`${staged} staged`] : []),
    ...(unstaged > 0 ? [`${unstaged} unstaged`] : []),
    ...(untracked > 0 ? [`${untracked} untracked`] : []),
  ];
  return [
    ...(changes.length > 0 ? [`${changes.join(", ")} (${counted(staged + unstaged + untracked, "change")})`] : []),
    ...(unmerged > 0 ? [`${counted(unmerged, "commit")} in no other branch and no remote`] : []),
    ...(state.operation ? [`a ${state.operation} is going on`] : []),
    ...(state.lockedBy === undefined ? [] : [`git holds it locked${state.lockedBy ? `: ${state.lockedBy}` : ""}`]),
  ];
}
