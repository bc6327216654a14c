// The tool complete_task: the owner's word that it is done, and what that unblocks.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { actorOf, type Changed, type OpenTaskBoard, type Task } from "./port.ts";
import { short, unknownText } from "./task-text.ts";
import { movesFor, type PlaceOf, placeLine, unknownFor } from "./task-tree.ts";

const SHOWN = 20;

export function createTaskCompleteTool(
  open: OpenTaskBoard,
  placeOf?: PlaceOf,
): Tool<{ task_id: string; note?: string }> {
  return defineTool({
    name: "complete_task",
    description: "Mark your task as done.",
    schema: () => z.strictObject({ task_id: z.string(), note: z.string().optional() }),
    effect: "internal",
    async execute(run) {
      const by = await actorOf(run);
      const changed = await (await open()).complete(run.input.task_id, by, {
        note: run.input.note,
        unknown: unknownFor(run.turn, run.input.task_id),
      });
      const moves = await movesFor(changed.task, run.turn, placeOf);
      const done = `completed ${changed.task.id}: ${short(changed.task.subject)}${mark(changed.task)}\n${consequences(changed)}`;
      return { content: `${done}${placeLine(moves)}`, ...(moves.length > 0 && { events: moves }) };
    },
  });
}

/** Whoever reads the board sees it: the agent is told so. */
const mark = ({ unknown }: Task): string =>
  unknown ? `\nmarked on the board: completed after ${unknownText(unknown)}` : "";

export function consequences({ unblocked, stranded }: Changed): string {
  const list = (tasks: Changed["unblocked"]) => {
    const shown = tasks.slice(0, SHOWN).map((t) => `${t.id} (${short(t.subject, 60)})`);
    return shown.join(", ") + (tasks.length > SHOWN ? ` and ${tasks.length - SHOWN} more` : "");
  };
  return [
    `unblocked: ${unblocked.length > 0 ? list(unblocked) : "nothing"}`,
    ...(stranded.length > 0
      ? [`still blocked by it: ${list(stranded)}; cancel them or use update_task removeBlockedBy`]
      : []),
  ].join("\n");
}
