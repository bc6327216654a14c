// The tool job_kill: ends a background job with everything it started.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import type { JobRunner } from "./port.ts";

export function createJobKillTool(runner: JobRunner): Tool<{ id: string }> {
  return defineTool({
    name: "job_kill",
    description: "Kill a background job.",
    schema: () => z.strictObject({ id: z.string() }),
    effect: "reconcile",
    async execute({ input, turn }) {
      const job = runner.find(turn.context, input.id);
      if (!job) return { content: `no job ${input.id}; see list_jobs`, isError: true };
      const end = job.end();
      if (end) return { content: `job ${input.id} has already ended (${end.status})` };
      await job.kill();
      return { content: `job ${input.id} killed` };
    },
    // Killing twice is killing once.
    reconcile: async () => ({ kind: "undone" }),
  });
}
