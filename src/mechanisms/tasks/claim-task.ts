// The tool claim_task: one task, one owner; whoever comes second is told who has it. A worktree of the task becomes the owner's tree.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { visible } from "../../text/visible.ts";
import { actorOf, type OpenTaskBoard } from "./port.ts";
import { short } from "./task-text.ts";
import { movesOrRelease, type PlaceOf, pathFor, placeLine } from "./task-tree.ts";

export function createTaskClaimTool(open: OpenTaskBoard, placeOf?: PlaceOf): Tool<{ task_id: string }> {
  return defineTool({
    name: "claim_task",
    description: "Take a pending, unblocked task as yours and start on it.",
    schema: () => z.strictObject({ task_id: z.string() }),
    effect: "internal",
    async execute(run) {
      const by = await actorOf(run);
      const board = await open();
      await pathFor(await board.get(run.input.task_id), placeOf);
      const task = await board.claim(run.input.task_id, by);
      const moves = await movesOrRelease(task, { turn: run.turn, placeOf, board, call: by.call });
      const where = task.worktree ? `\nworktree: ${short(task.worktree, 400)}` : "";
      const what = task.description === "" ? "" : `\n\n${task.description.split("\n").map(visible).join("\n")}`;
      return {
        content: `claimed ${task.id}: ${short(task.subject)}${where}${placeLine(moves)}${what}`,
        ...(moves.length > 0 && { events: moves }),
      };
    },
  });
}
