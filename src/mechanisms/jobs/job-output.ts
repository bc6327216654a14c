// The tool job_output: what a job printed so far.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import { describeEnd, describeTaken, LACKED_NETWORK } from "./bash.ts";
import type { JobRunner } from "./port.ts";

const PAGE_CHARS = 28_000;

export function createJobOutputTool(runner: JobRunner): Tool<{ id: string; offset?: number }> {
  return defineTool({
    name: "job_output",
    description: "Output of a background job, from character offset (negative: the last N).",
    schema: () => z.strictObject({ id: z.string(), offset: z.int().optional() }),
    effect: "read",
    async execute({ input, turn }) {
      const job = runner.find(turn.context, input.id);
      if (!job) return { content: `no job ${input.id}; see list_jobs`, isError: true };
      const { text, missing } = job.output();
      const from = input.offset === undefined ? 0 : input.offset < 0 ? text.length + input.offset : input.offset;
      const start = Math.min(Math.max(0, from), text.length);
      const page = text.slice(start, start + PAGE_CHARS);
      const end = job.end();
      const lines = [page === "" ? "(no output)" : page.replace(/\n$/, "")];
      if (start + page.length < text.length) {
        lines.push(`[${text.length} characters; continue with offset ${start + page.length}]`);
      }
      if (missing !== undefined) lines.push(`[${missing}]`);
      lines.push(...describeTaken(job));
      if (end?.lackedNetwork) lines.push(`[${LACKED_NETWORK}]`);
      lines.push(`[${end ? (describeEnd(end) ?? "exit code 0") : "still running"}]`);
      return { content: lines.join("\n") };
    },
  });
}
