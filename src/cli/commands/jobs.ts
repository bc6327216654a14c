// `holdfast jobs ls|show|kill`.

import { age, listing, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { killJob, listJobs, showJob } from "../../mechanisms/jobs/job-dir.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { idsMeant, isTooShort } from "../ids.ts";
import { projectOf } from "../open.ts";

type Look = PlaceFlags & JsonToo;
type Listed = Awaited<ReturnType<typeof listJobs>>[number];

const HEAD = ["JOB", "STATUS", "EXIT", "AGE", "RAN", "CONTEXT", "COMMAND"];

const jobsDirOf = async (flags: Look): Promise<string> => `${(await projectOf(flags)).stateDir}/jobs`;

export async function ls(flags: Look): Promise<number> {
  const all = await listJobs(await jobsDirOf(flags));
  if (flags.json) process.stdout.write(`${JSON.stringify(all)}\n`);
  else if (all.length === 0) process.stderr.write("No jobs.\n");
  else process.stdout.write(listing(HEAD, all.map(cells)));
  return 0;
}

function cells(job: Listed): string[] {
  const ran = job.durationMs === undefined ? "" : `${(job.durationMs / 1000).toFixed(1)} s`;
  const { jobId, status, exitCode, startedAt, context, command } = job;
  return [jobId, status, exitCode === undefined ? "" : String(exitCode), age(startedAt), ran, context, command];
}

export async function show(flags: Look, id: string): Promise<number> {
  const dir = await jobsDirOf(flags);
  const job = await jobNamed(dir, id);
  const shown = showJob(dir, job.jobId)!;
  process.stdout.write(
    flags.json
      ? `${JSON.stringify(shown)}\n`
      : `${listing(HEAD, [cells(job)])}${printable(job.command)}\n\n${printable(shown.output)}\n${shown.missing ? `[${shown.missing}]\n` : ""}`,
  );
  return 0;
}

export async function kill(flags: Look, id: string): Promise<number> {
  const dir = await jobsDirOf(flags);
  const { jobId } = await jobNamed(dir, id);
  const killed = await killJob(dir, jobId);
  if (flags.json) process.stdout.write(`${JSON.stringify({ jobId, killed })}\n`);
  else process.stdout.write(`${killed ? "killed" : "had already ended:"} ${jobId}\n`);
  return 0;
}

async function jobNamed(dir: string, id: string): Promise<Listed> {
  const all = await listJobs(dir);
  const near = idsMeant(all, id, { prefix: "job_", idOf: ({ jobId }) => jobId });
  if (near[0] && near.length === 1) return near[0];
  const none = isTooShort(id, "job_") ? `${id} is too short for a part of an id` : `there is no job ${id}`;
  const why = near.length > 1 ? `${near.length} jobs are meant by ${id}` : none;
  throw new HoldfastError("not_found", `${why}: see \`holdfast jobs ls\``);
}
