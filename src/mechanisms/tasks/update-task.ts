// The tool update_task: fields, dependencies, and every step of a task's life.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { consequences } from "./complete-task.ts";
import { actorOf, type OpenTaskBoard, ownerNamed, PRIORITIES, TASK_STATUSES, type TaskChanges } from "./port.ts";
import { taskLine } from "./task-text.ts";
import { movesFor, movesOrRelease, type PlaceOf, pathFor, placeLine, unknownFor } from "./task-tree.ts";

type Input = Omit<TaskChanges, "worktree" | "unknown"> & { task_id: string };

export function createTaskUpdateTool(open: OpenTaskBoard, placeOf?: PlaceOf): Tool<Input> {
  return defineTool<Input>({
    name: "update_task",
    description: "Change a task. status pending releases it; owner keeps it for someone, null for anyone.",
    schema: () =>
      z.strictObject({
        task_id: z.string(),
        subject: z.string().optional(),
        description: z.string().optional(),
        status: z.enum(TASK_STATUSES).optional(),
        owner: z.string().nullable().optional(),
        addBlockedBy: z.array(z.string()).optional(),
        removeBlockedBy: z.array(z.string()).optional(),
        priority: z.enum(PRIORITIES).optional(),
        labels: z.array(z.string()).optional(),
        note: z.string().optional(),
      }),
    effect: "internal",
    async execute(run) {
      const { task_id, owner, ...changes } = run.input;
      const { context } = run.turn;
      const by = await actorOf(run);
      const board = await open();
      const to = owner === undefined ? {} : { owner: owner === null ? null : ownerNamed(owner, context) };
      if (changes.status === "in_progress") await pathFor(await board.get(task_id), placeOf);
      const unknown = changes.status === "completed" ? { unknown: unknownFor(run.turn, task_id) } : {};
      const changed = await board.update(task_id, { ...changes, ...to, ...unknown }, by);
      const line = taskLine(changed.task, { blockers: board.openBlockers(changed.task), context });
      const more = changed.unblocked.length + changed.stranded.length > 0 || changes.status === "completed";
      const { turn } = run;
      const moves =
        changes.status === "in_progress"
          ? await movesOrRelease(changed.task, { turn, placeOf, board, call: by.call })
          : await movesFor(changed.task, turn, placeOf).catch(() => []); // it changes something else: where one works stays
      const text = `updated\n${line}${more ? `\n${consequences(changed)}` : ""}${placeLine(moves)}`;
      return { content: text, ...(moves.length > 0 && { events: moves }) };
    },
  });
}
