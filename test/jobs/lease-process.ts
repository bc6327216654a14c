// A host to be killed or stopped: holds an agent's lease, which it renews as told, and starts one command as a job, shut in or not.
import { createRunner } from "../../src/mechanisms/jobs/runner.ts";
import { createSandbox } from "../../src/mechanisms/jobs/sandbox.ts";

const [dir, cwd, command, plan, leaseMs, how] = process.argv.slice(2);
const { bwrap, network, home, own } = JSON.parse(how!);
const sandbox = bwrap === undefined ? undefined : createSandbox(bwrap, { root: cwd!, home, dir: own });
const runner = createRunner({ dir: dir!, ...(sandbox && { sandbox }) });
const whom = { context: "ctx_test", agent: "lead" };
const renew = () => runner.leaseRenewed(whom, Number(leaseMs));
renew();
setInterval(renew, Number(leaseMs) / 3);
const spec = { ...whom, callId: "c1", command: command!, cwd: cwd!, background: false, grants: { network } };
const job = await runner.start(JSON.parse(plan!), spec);
process.stdout.write(`${job.jobId}\n`);
