// What `holdfast tasks show` says of a task's worktree: where it is, what is in it, how to merge it.
import type { Project } from "../../contexts/project.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import type { Store } from "../../ledger/store.ts";
import { machineText, treesElsewhere } from "../../mechanisms/worktrees/elsewhere.ts";
import { openWorktrees } from "../../mechanisms/worktrees/index.ts";
import { stateLines, type WorktreeState } from "../../mechanisms/worktrees/port.ts";
import { visible } from "../../text/visible.ts";
import type { PlaceFlags } from "../flags.ts";

export interface SeenWorktree {
  lines: string[];
  /** Null: it is not there. */
  state: WorktreeState | null;
}

export async function seeWorktree(
  { name, task }: { name: string; task: string },
  { project: { root, stateDir }, store }: { project: Project; store: Store },
  flags: PlaceFlags,
): Promise<SeenWorktree> {
  const command = (...words: string[]) => commandLine(["worktrees", ...words], flags, root);
  const takeOver = (...more: string[]) => [
    `  to see it: ${command("diff", name)}`,
    `  to take it over: ${command("merge", name, ...more)}`,
  ];
  const worktrees = openWorktrees({ dir: `${stateDir}/worktrees`, root });
  try {
    const state = await worktrees.look(name);
    const { path, branch, head, kept, ignoredFiles } = state;
    const uncommitted = state.staged + state.unstaged + state.untracked > 0;
    const facts = [
      ...stateLines(state),
      ...(ignoredFiles.length > 0 ? [`${ignoredFiles.length} ignored files`] : []),
      ...(kept === undefined ? [] : [`kept for review${kept === "" ? "" : `: ${visible(kept)}`}`]),
    ];
    const lines = [
      `worktree ${visible(name)} in ${visible(path)}`,
      `  branch ${branch} at ${head.slice(0, 10)}: ${facts.length > 0 ? facts.join("; ") : "clean and merged"}`,
      ...(state.unmerged > 0 || uncommitted ? takeOver(...(uncommitted ? ["--commit"] : [])) : []),
    ];
    return { lines, state };
  } catch (error) {
    const there = (await treesElsewhere(store)).find((one) => one.name === name);
    if (there) {
      const at = `worktree ${visible(name)}: ${machineText(there.machine)}, in ${visible(there.path)}`;
      return { lines: [at, `  branch ${there.branch}: push it there and fetch it here to see it`], state: null };
    }
    const left = await worktrees.branchLeft(name).catch(() => undefined);
    const merge = left && left.unmerged > 0 ? [`  its branch ${left.branch} stays`, ...takeOver()] : [];
    const why = isHoldfastError(error) ? error.what : messageOf(error);
    const free = `  to take it off the task: ${commandLine(["tasks", "update", task, "worktree="], flags, root)}`;
    return { lines: [`worktree ${visible(name)}: ${visible(why)}`, ...merge, free], state: null };
  }
}
