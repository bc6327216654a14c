// The last line of a team's run: which worktrees hold work that the project's tree does not have, and how to see it.

import { commandLine } from "../front/presentation/command-line.ts";
import { oneLine } from "../front/presentation/printable.ts";
import { openWorktrees } from "../mechanisms/worktrees/index.ts";
import { counted } from "../text/counted.ts";
import type { PlaceFlags } from "./flags.ts";
import type { OpenState } from "./open.ts";

const NAMED = 5;

/** Nothing where there is nothing to take over, or where it cannot be told. */
export async function worktreesLeft({ project }: OpenState, flags: PlaceFlags): Promise<string[]> {
  const { root, stateDir } = project;
  const all = await openWorktrees({ dir: `${stateDir}/worktrees`, root })
    .list()
    .catch(() => []);
  const held = all.flatMap(({ name, ahead, state }) => {
    const changes = state ? state.staged + state.unstaged + state.untracked : 0;
    const what = [...(ahead > 0 ? [counted(ahead, "commit")] : []), ...(changes > 0 ? [`${changes} uncommitted`] : [])];
    return what.length > 0 ? [{ name, changes, text: `${oneLine(name, 41)}: ${what.join(", ")}` }] : [];
  });
  if (held.length === 0) return [];
  const command = (...words: string[]) => commandLine(["worktrees", ...words], flags, root);
  const [one, ...others] = held;
  if (one && others.length === 0) {
    const merge = command("merge", one.name, ...(one.changes > 0 ? ["--commit"] : []));
    return [`The worktree ${one.text}. See it: ${command("diff", one.name)} · take it over: ${merge}`];
  }
  const named = held
    .slice(0, NAMED)
    .map(({ text }) => text)
    .join("; ");
  const more = held.length > NAMED ? `; and ${held.length - NAMED} more` : "";
  return [`In worktrees (${named}${more}). See what there is and how to take it over: ${command("ls")}`];
}
