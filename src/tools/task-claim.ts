// Owns the tool claim_task: one task, one owner; whoever comes second is told who has it.
import * as z from "zod";
import { defineTool, type Tool } from "../loop/seams.ts";
import { actorOf, type OpenTaskBoard } from "./task-board.ts";
import { short, visible } from "./task-text.ts";

export function createTaskClaimTool(open: OpenTaskBoard): Tool<{ task_id: string }> {
  return defineTool({
    name: "claim_task",
    description: "Take a pending, unblocked task as yours and start on it.",
    schema: () => z.strictObject({ task_id: z.string() }),
    effect: "internal",
    async execute(run) {
      const by = await actorOf(run);
      const task = await (await open()).claim(run.input.task_id, by);
      const where = task.worktree ? `\nworktree: ${short(task.worktree, 400)}` : "";
      const what = task.description === "" ? "" : `\n\n${task.description.split("\n").map(visible).join("\n")}`;
      return { content: `claimed ${task.id}: ${short(task.subject)}${where}${what}` };
    },
  });
}
