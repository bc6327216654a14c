// The tool get_task: everything about one task.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { visible } from "../../text/visible.ts";
import { type OpenTaskBoard, shownOwner } from "./port.ts";

const HISTORY = 20;

export function createTaskGetTool(open: OpenTaskBoard): Tool<{ task_id: string }> {
  return defineTool({
    name: "get_task",
    description: "Show one task: description, blockers, history.",
    schema: () => z.strictObject({ task_id: z.string() }),
    effect: "read",
    async execute({ input, turn }) {
      const board = await open();
      const { createdAt, updatedAt, unhostedAt, history, ...task } = await board.get(input.task_id);
      const name = (owner: string) => shownOwner(owner, turn.context);
      const shown = {
        ...task,
        owner: task.owner && name(task.owner),
        openBlockers: board.openBlockers({ ...task, createdAt, updatedAt, history }).map((t) => t.id),
        ...(unhostedAt !== undefined && { ownerHasNoHostSince: new Date(unhostedAt).toISOString() }),
        created: new Date(createdAt).toISOString(),
        updated: new Date(updatedAt).toISOString(),
        history: history
          .slice(-HISTORY)
          .map(
            (h) =>
              `${new Date(h.at).toISOString()} ${name(h.by)} ${h.what.replaceAll(`${turn.context}/`, "")}${h.note ? `: ${h.note}` : ""}`,
          ),
      };
      const lines = JSON.stringify(shown, null, 1).split("\n");
      return { content: lines.map(visible).join("\n") };
    },
  });
}
