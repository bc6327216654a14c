// The tool list_tasks: the board, bounded, with a count of the rest.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { type OpenTaskBoard, ownerNamed, TASK_STATUSES, type TaskFilter, taskId } from "./port.ts";
import { taskLine } from "./task-text.ts";

const SHOWN = 50;

type Input = TaskFilter & { after?: string };

export function createTaskListTool(open: OpenTaskBoard): Tool<Input> {
  return defineTool<Input>({
    name: "list_tasks",
    description: "List the board: running, claimable (best first), blocked, done. after: the last id you saw.",
    schema: () =>
      z.strictObject({
        status: z.enum(TASK_STATUSES).optional(),
        owner: z.string().optional(),
        label: z.string().optional(),
        claimable: z.boolean().optional(),
        after: z.string().optional(),
      }),
    effect: "read",
    async execute({ input, turn }) {
      const { after, owner, ...filter } = input;
      const board = await open();
      const all = await board.list({ ...filter, ...(owner && { owner: ownerNamed(owner, turn.context) }) });
      const last = after === undefined ? -1 : all.findIndex((t) => t.id === taskId(after));
      if (after !== undefined && last < 0)
        return { content: `${after} is not in this list: leave out after to begin anew`, isError: true };
      const page = all.slice(last + 1, last + 1 + SHOWN);
      const lines = page.map((task) => taskLine(task, { blockers: board.openBlockers(task), context: turn.context }));
      const left = all.length - last - 1 - page.length;
      if (left > 0) lines.push(`[${left} more of ${all.length}: after ${page.at(-1)?.id}, or filter]`);
      return { content: lines.join("\n") || "(no tasks)" };
    },
  });
}
