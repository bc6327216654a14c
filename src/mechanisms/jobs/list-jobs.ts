// The tool list_jobs: the jobs of this context.
import * as z from "zod";
import { defineTool, type Tool } from "../../loop/seams.ts";
import type { JobListing, JobRunner } from "./port.ts";

const SHOWN = 50;
const COMMAND_CHARS = 120;

export function createListJobsTool(runner: JobRunner): Tool<Record<string, never>> {
  return defineTool({
    name: "list_jobs",
    description: "List jobs, newest first.",
    schema: () => z.strictObject({}),
    effect: "read",
    async execute({ turn }) {
      const jobs = runner.list(turn.context).reverse();
      const lines = jobs.slice(0, SHOWN).map(toLine);
      if (jobs.length > SHOWN) lines.push(`[${jobs.length - SHOWN} older ones]`);
      return { content: lines.join("\n") || "(no jobs)" };
    },
  });
}

function toLine(job: JobListing): string {
  const command = job.command.replaceAll("\n", "⏎");
  const code = job.exitCode ? ` (exit code ${job.exitCode})` : "";
  return `${job.jobId} ${job.status}${code}: ${command.length > COMMAND_CHARS ? `${command.slice(0, COMMAND_CHARS)}…` : command}`;
}
