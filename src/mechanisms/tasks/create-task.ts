// The tool create_task: one task, or a batch whose dependencies are wired in the same call.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { actorOf, type NewTask, type OpenTaskBoard, PRIORITIES } from "./port.ts";
import { taskLine } from "./task-text.ts";

type Input = Partial<Omit<NewTask, "alias">> & { tasks?: NewTask[] };

const SHOWN = 50;

export function createTaskCreateTool(open: OpenTaskBoard): Tool<Input> {
  return defineTool<Input>({
    name: "create_task",
    description:
      "Add a task to the project's board, or several as tasks (same fields, and alias): blockedBy takes ids, and aliases of the same call.",
    schema: () => {
      const optional = {
        description: z.string().optional(),
        blockedBy: z.array(z.string()).optional(),
        priority: z.enum(PRIORITIES).optional(),
        labels: z.array(z.string()).optional(),
      };
      return z
        .strictObject({
          subject: z.string().optional(),
          ...optional,
          tasks: z
            .array(
              // A model is shown the optional fields once: their place in every request is dear.
              z
                .looseObject({ alias: z.string().optional(), subject: z.string() })
                .pipe(z.strictObject({ alias: z.string().optional(), subject: z.string(), ...optional })),
            )
            .min(1)
            .optional(),
        })
        .refine((input) => (input.subject === undefined) !== (input.tasks === undefined), {
          path: ["subject"],
          message: "give subject for one task, or tasks for several",
        });
    },
    effect: "internal",
    async execute(run) {
      const { tasks, subject, ...rest } = run.input;
      const by = await actorOf(run);
      const board = await open();
      const created = await board.create(tasks ?? (subject === undefined ? [] : [{ subject, ...rest }]), by);
      const lines = created
        .slice(0, SHOWN)
        .map((task) => taskLine(task, { blockers: board.openBlockers(task), context: run.turn.context }));
      if (created.length > SHOWN) lines.push(`[${created.length - SHOWN} more, up to ${created.at(-1)?.id}]`);
      return { content: `created\n${lines.join("\n")}` };
    },
  });
}
