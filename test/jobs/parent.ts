// A harness process to be killed: starts one command as a job, says so, and waits for its death (or, with "leave", leaves).
import { createRunner } from "../../src/mechanisms/jobs/runner.ts";

const [dir, cwd, command, plan, then] = process.argv.slice(2);
const job = await createRunner({ dir: dir! }).start(JSON.parse(plan!), {
  context: "ctx_test",
  agent: "lead",
  callId: "c1",
  command: command!,
  cwd: cwd!,
  background: false,
});
process.stdout.write(`${job.jobId}\n`);
if (then !== "leave") setInterval(() => {}, 1_000);
