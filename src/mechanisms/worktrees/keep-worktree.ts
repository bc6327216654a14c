// The tool keep_worktree: marks a worktree for a person to look at; `git worktree list --verbose` shows the mark.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { stateLines, type Worktrees } from "./port.ts";

export function keepWorktreeTool(worktrees: Worktrees): Tool<{ name: string; note?: string }> {
  return defineTool({
    name: "keep_worktree",
    description: "Mark a worktree for review by a person.",
    schema: () => z.strictObject({ name: z.string(), note: z.string().optional() }),
    effect: "reconcile",
    async execute({ input }) {
      const state = await worktrees.keep(input.name, input.note ?? "");
      const { name, path, branch, kept = "" } = state;
      const lines = [
        `kept for review: the worktree ${name} in ${path}${kept === "" ? "" : ` (${kept})`}`,
        ...stateLines(state),
        `to merge it: git merge ${branch}`,
      ];
      return {
        content: lines.join("\n"),
        events: [{ type: "worktree.kept", data: { name, path, branch, note: kept } }],
      };
    },
    reconcile: async () => ({ kind: "undone" }), // marked twice is marked once
  });
}
