// Commands with network end with the lease of their agent; all others run on and are adopted.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Interrupt } from "../../src/loop/interrupt.ts";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { jobState } from "../../src/mechanisms/jobs/job-dir.ts";
import type { JobPlan } from "../../src/mechanisms/jobs/port.ts";
import { createRunner } from "../../src/mechanisms/jobs/runner.ts";
import { scratch, testTurn } from "../turn.ts";
import { state, works } from "./sandboxed.ts";

const WHOM = { context: "ctx_test", agent: "lead" };
const KILLED =
  "[killed with its lease: its host lost the store, was gone or was told to end; how far it came is not known]";
const TICKING = { command: "echo begun; for i in $(seq 100); do echo $i >> ticks; sleep 0.1; done" };

function setUp() {
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  const dir = join(base, "jobs");
  const home = join(base, "home");
  for (const made of [root, home]) mkdirSync(made);
  const jobs = createJobs({ dir });
  const turn = testTurn([jobs], { root });
  const ticks = () =>
    existsSync(join(root, "ticks")) ? readFileSync(join(root, "ticks"), "utf8").split("\n").length : 0;
  return { base, root, dir, home, jobs, turn, ticks };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

/** Holds the lease and runs the command in a process of its own; resolves once the command runs. */
async function startElsewhere(
  { root, dir, home, base, ticks }: ReturnType<typeof setUp>,
  { plan, leaseMs, ...how }: { plan: JobPlan; leaseMs: number; bwrap?: string; network: boolean },
) {
  const shutIn = JSON.stringify({ ...how, home, own: join(base, "private") });
  const script = join(import.meta.dirname, "lease-process.ts");
  const args = [script, dir, root, TICKING.command, JSON.stringify(plan), String(leaseMs), shutIn];
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void host.kill("SIGKILL"));
  await until(() => ticks() > 1);
  return host;
}

async function kill(host: ReturnType<typeof spawn>): Promise<void> {
  host.kill("SIGKILL");
  await once(host, "exit");
}

test("a command with network whose host was killed is ended by its supervisor at the deadline of the lease", async () => {
  const setup = setUp();
  const plan = (await setup.turn.intend("bash", TICKING)) as JobPlan;
  await kill(await startElsewhere(setup, { plan, leaseMs: 1_500, network: true }));
  await until(() => jobState(plan.dir).phase === "ended");
  const ended = setup.ticks();
  expect(await setup.turn.resume("bash", TICKING, plan)).toMatchObject({
    content: `begun\n${KILLED}`,
    isError: true,
  });
  expect([setup.turn.reran, setup.ticks()]).toEqual([false, ended]);
});

test("it is ended at that deadline too when its supervisor was killed together with its host", async () => {
  const setup = setUp();
  const plan = (await setup.turn.intend("bash", TICKING)) as JobPlan;
  const host = await startElsewhere(setup, { plan, leaseMs: 1_500, network: true });
  const worker = Number.parseInt(readFileSync(join(plan.dir, "started"), "utf8"), 10);
  const supervisor = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(worker)], { encoding: "utf8" }));
  process.kill(supervisor, "SIGKILL");
  await kill(host);
  await until(() => jobState(plan.dir).phase === "ended");
  expect(readFileSync(join(plan.dir, "killed"), "utf8")).toBe("lease\n");
  const ended = setup.ticks();
  await sleep(500);
  expect(setup.ticks()).toBe(ended);
});

test("renewals keep it, and a host that is stopped does not renew", async () => {
  const setup = setUp();
  const plan = (await setup.turn.intend("bash", TICKING)) as JobPlan;
  const host = await startElsewhere(setup, { plan, leaseMs: 900, network: true });
  await until(() => setup.ticks() > 25); // longer than the lease
  expect(jobState(plan.dir).phase).toBe("running");
  host.kill("SIGSTOP");
  await until(() => jobState(plan.dir).phase === "ended");
  expect(readFileSync(join(plan.dir, "killed"), "utf8")).toBe("lease\n");
});

test.runIf(works)("in a sandbox only a command that was granted the network ends so", async () => {
  const [granted, shut] = [setUp(), setUp()];
  for (const [setup, network] of [
    [granted, true],
    [shut, false],
  ] as const) {
    const plan = (await setup.turn.intend("bash", TICKING)) as JobPlan;
    await kill(await startElsewhere(setup, { plan, leaseMs: 800, network, bwrap: state.works ? state.bwrap : "" }));
    if (network) await until(() => jobState(plan.dir).phase === "ended");
    else {
      const before = setup.ticks();
      await until(() => setup.ticks() > before + 15);
      expect([jobState(plan.dir).phase, existsSync(join(plan.dir, "until"))]).toEqual(["running", false]);
      await createRunner({ dir: setup.dir }).find(WHOM.context, plan.jobId)?.kill();
    }
  }
  expect(readdirSync(granted.dir).some((name) => name.startsWith(".until-"))).toBe(true);
});

test("the next host of the same machine renews for a command that it adopts", async () => {
  const setup = setUp();
  const plan = (await setup.turn.intend("bash", TICKING)) as JobPlan;
  const host = await startElsewhere(setup, { plan, leaseMs: 1_200, network: true });
  await kill(host);
  setup.jobs.leaseRenewed!(WHOM, 60_000);
  const before = setup.ticks();
  await until(() => setup.ticks() > before + 25);
  expect(jobState(plan.dir).phase).toBe("running");
  setup.jobs.leaseLost!(WHOM);
  await until(() => jobState(plan.dir).phase === "ended");
  expect(await setup.turn.resume("bash", TICKING, plan)).toMatchObject({ content: `begun\n${KILLED}` });
});

test("a host that loses the lease kills what has network at once, also what it has in the background", async () => {
  const setup = setUp();
  setup.jobs.leaseRenewed!(WHOM, 60_000);
  const started = await setup.turn.call("bash", { ...TICKING, run_in_background: true });
  const id = /job_\w+/.exec(String(started.content))![0];
  await until(() => setup.ticks() > 1);
  setup.jobs.leaseLost!(WHOM);
  await until(() => jobState(join(setup.dir, id)).phase === "ended");
  const job = createRunner({ dir: setup.dir }).find(WHOM.context, id)!;
  expect(job.end()).toMatchObject({ status: "killed", lostLease: true });
});

test("a host that is told to end kills its command with the lease, a person interrupts it, and one that lost the lease lets it run on", async () => {
  const ended = [];
  for (const by of ["host", "person", "lease"] as const) {
    const setup = setUp();
    const stop = new AbortController();
    const called = setup.turn.call("bash", TICKING, { signal: stop.signal });
    await until(() => setup.ticks() > 1);
    stop.abort(new Interrupt(by));
    const { content } = await called;
    const [id = ""] = readdirSync(setup.dir).filter((name) => name.startsWith("job_"));
    const runsOn = id !== "" && jobState(join(setup.dir, id)).phase === "running";
    ended.push([setup.turn.ran?.status, setup.turn.ran?.lostLease, runsOn, String(content).includes(KILLED)]);
    await createRunner({ dir: setup.dir }).find(WHOM.context, id)?.kill();
  }
  expect(ended).toEqual([
    ["killed", true, false, true],
    ["interrupted", undefined, false, false],
    [undefined, undefined, true, false],
  ]);
});

test("without a deadline, as on a store of one machine, nothing is written and nothing ends", async () => {
  const setup = setUp();
  await setup.turn.call("bash", { command: "true" });
  expect(readdirSync(setup.dir).filter((name) => name.startsWith(".until"))).toEqual([]);
});
