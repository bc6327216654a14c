// Owns what `holdfast tasks show` says of a task's worktree: where it is, what is in it, how to merge it.
import type { Project } from "../../contexts/index.ts";
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import { openWorktrees } from "../../mechanisms/worktrees/index.ts";
import { visible } from "../../tools/task-text.ts";
import { stateLines, type WorktreeState } from "../../tools/worktrees.ts";

export interface SeenWorktree {
  lines: string[];
  /** Null: it is not there. */
  state: WorktreeState | null;
}

export async function seeWorktree(name: string, task: string, { root, stateDir }: Project): Promise<SeenWorktree> {
  const worktrees = openWorktrees({ dir: `${stateDir}/worktrees`, root });
  try {
    const state = await worktrees.look(name);
    const { path, branch, head, kept, ignoredFiles } = state;
    const facts = [
      ...stateLines(state),
      ...(ignoredFiles.length > 0 ? [`${ignoredFiles.length} ignored files`] : []),
      ...(kept === undefined ? [] : [`kept for review${kept === "" ? "" : `: ${visible(kept)}`}`]),
    ];
    const lines = [
      `worktree ${visible(name)} in ${visible(path)}`,
      `  branch ${branch} at ${head.slice(0, 10)}: ${facts.length > 0 ? facts.join("; ") : "clean and merged"}`,
      ...(state.unmerged > 0 ? [`  to merge it: git merge ${branch}`] : []),
    ];
    return { lines, state };
  } catch (error) {
    const left = await worktrees.branchLeft(name).catch(() => undefined);
    const merge = left && left.unmerged > 0 ? [`  its branch stays; to merge it: git merge ${left.branch}`] : [];
    const why = isHoldfastError(error) ? error.what : messageOf(error);
    const free = `  to take it off the task: holdfast tasks update ${visible(task)} worktree=`;
    return { lines: [`worktree ${visible(name)}: ${visible(why)}`, ...merge, free], state: null };
  }
}
