// Owns `holdfast jobs ls|show|kill`.
import { HoldfastError } from "../../ledger/error.ts";
import { killJob, listJobs, showJob } from "../../mechanisms/jobs/index.ts";
import type { Flags } from "../args.ts";
import { openState } from "../open.ts";
import { oneLine, printable } from "../printable.ts";

export async function jobs(flags: Flags): Promise<number> {
  const [, verb = "ls", id] = flags.words;
  const { store, jobsDir } = await openState(flags);
  await store.close();
  const all = await listJobs(jobsDir);
  if (verb === "ls") {
    if (flags.json) process.stdout.write(`${JSON.stringify(all)}\n`);
    else if (all.length === 0) process.stderr.write("No jobs.\n");
    else
      for (const job of all)
        process.stdout.write(`${job.jobId}  ${job.status.padEnd(9)}  ${oneLine(job.command, 80)}\n`);
    return 0;
  }
  const job = all.find((j) => j.jobId === id);
  if (!id || !job)
    throw new HoldfastError(
      "not_found",
      id ? `there is no job ${id}: see \`holdfast jobs ls\`` : `jobs ${verb} needs an id`,
    );
  if (verb === "show") {
    const shown = showJob(jobsDir, id)!;
    process.stdout.write(
      flags.json
        ? `${JSON.stringify(shown)}\n`
        : `${job.jobId}  ${job.status}\n${printable(job.command)}\n\n${printable(shown.output)}\n`,
    );
    return 0;
  }
  if (verb === "kill") {
    process.stdout.write(`${(await killJob(jobsDir, id)) ? "killed" : "had already ended:"} ${id}\n`);
    return 0;
  }
  throw new HoldfastError("invalid", `jobs ${verb}: there are ls, show ID, kill ID`);
}
