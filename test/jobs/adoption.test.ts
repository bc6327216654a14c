import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { jobState, killJob, listJobs } from "../../src/mechanisms/jobs/job-dir.ts";
import type { JobPlan } from "../../src/mechanisms/jobs/port.ts";
import { createSupervisor } from "../../src/mechanisms/jobs/supervisor.ts";
import { sweepJobs } from "../../src/mechanisms/jobs/sweep.ts";
import { scratch, testTurn } from "../turn.ts";

function setUp() {
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  const dir = join(base, "jobs");
  mkdirSync(root);
  const turn = testTurn([createJobs({ dir })], { root });
  const text = (name: string) => (existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : "");
  return { root, dir, turn, text };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

/** Starts the job in a process of its own and kills that with SIGKILL, at a crash point or once `killWhen` holds. */
async function runInDyingProcess(opts: {
  dir: string;
  root: string;
  command: string;
  plan: unknown;
  crashAt?: string;
  killWhen?: () => boolean;
}) {
  const args = [join(import.meta.dirname, "parent.ts"), opts.dir, opts.root, opts.command, JSON.stringify(opts.plan)];
  const env = { ...process.env, ...(opts.crashAt && { HOLDFAST_CRASH_AT: opts.crashAt }) };
  const parent = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(parent, "exit");
  if (opts.killWhen) {
    await until(opts.killWhen);
    parent.kill("SIGKILL");
  }
  expect((await exited)[1]).toBe("SIGKILL");
}

const supervisors = (dir: string) => createSupervisor(dir, { hardLimitMs: 60_000, outputBytes: 1_000 });

const jobsIn = (dir: string) => readdirSync(dir).filter((name) => name.startsWith("job_"));

const supervisorOf = (plan: JobPlan) => Number.parseInt(readFileSync(join(plan.dir, "started"), "utf8"), 10);

test("a command outlives its harness; the next one waits for it and gives its real result, run once", async () => {
  const { dir, root, turn, text } = setUp();
  const input = { command: "echo run >> times; echo one; sleep 0.5; echo two; cd /; exit 7" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  await runInDyingProcess({ dir, root, plan, command: input.command, killWhen: () => text("times") !== "" });
  const output = await turn.resume("bash", input, plan);
  expect(output).toEqual({
    content: `one\ntwo\n[exit code 7]\n[directory stays ${root}: / is outside ${root}]`,
    isError: true,
  });
  expect([turn.reran, text("times")]).toEqual([false, "run\n"]);
  await until(() => jobsIn(dir).length === 0);
});

test("a command that ended after its harness died still gives its output, exit code and directory", async () => {
  const { dir, root, turn, text } = setUp();
  mkdirSync(join(root, "sub"));
  const input = { command: "echo run >> times; cd sub; echo done" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  const ended = () => existsSync(join(plan.dir, "exit"));
  await runInDyingProcess({ dir, root, plan, command: input.command, killWhen: ended });
  expect(await turn.resume("bash", input, plan)).toEqual({
    content: "done",
    isError: false,
    events: [{ type: "agent.moved", data: { cwd: join(root, "sub") } }],
  });
  expect([turn.reran, text("times")]).toEqual([false, "run\n"]);
});

test("a harness killed before the spawn leaves an intent that is safe to run", async () => {
  const { dir, root, turn, text } = setUp();
  const input = { command: "echo run >> times; echo done" };
  const plan = await turn.intend("bash", input);
  await runInDyingProcess({ dir, root, plan, command: input.command, crashAt: "job.intended" });
  expect(await turn.resume("bash", input, plan)).toEqual({ content: "done", isError: false });
  expect([turn.reran, text("times")]).toEqual([true, "run\n"]);
  await until(() => listJobs(dir).length === 0 && jobsIn(dir).length === 1); // the attempt that was abandoned
  const old = Date.now() / 1000 - 2 * 86_400;
  for (const id of jobsIn(dir)) utimesSync(join(dir, id), old, old);
  await sweepJobs(dir, async () => new Set([(plan as JobPlan).jobId]));
  expect(jobsIn(dir)).toEqual([(plan as JobPlan).jobId]);
  rmSync(join(dir, ".swept"));
  await sweepJobs(dir, async () => new Set());
  expect(jobsIn(dir)).toEqual([]);
});

test("a harness killed right after the spawn: whoever is first decides, and the command runs once", async () => {
  for (let i = 0; i < 5; i++) {
    const { dir, root, turn, text } = setUp();
    const input = { command: "echo run >> times; echo done" };
    const plan = await turn.intend("bash", input);
    await runInDyingProcess({ dir, root, plan, command: input.command, crashAt: "job.spawned" });
    expect(await turn.resume("bash", input, plan)).toEqual({ content: "done", isError: false });
    expect(text("times")).toBe("run\n");
  }
});

test("a supervisor that comes after its job was abandoned does nothing", async () => {
  const { dir, root, turn, text } = setUp();
  const input = { command: "echo run >> times" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  mkdirSync(plan.dir, { recursive: true });
  await turn.resume("bash", input, plan);
  expect([turn.reran, text("times"), jobState(plan.dir)]).toEqual([true, "run\n", { phase: "abandoned" }]);
  const late = await supervisors(dir).start(plan.jobId, root);
  await late.ended;
  expect([text("times"), readdirSync(plan.dir)]).toEqual(["run\n", ["job", "started"]]);
});

test("a start and an abandonment at the same moment never both win", async () => {
  const { dir, root, turn, text } = setUp();
  const starters = supervisors(dir);
  const outcomes: string[] = [];
  for (let i = 0; i < 20; i++) {
    const plan = (await turn.intend("bash", { command: "x" })) as JobPlan;
    mkdirSync(plan.dir, { recursive: true });
    writeFileSync(join(plan.dir, "job"), `{}\necho ${i} >> times`);
    const { ended } = await starters.start(plan.jobId, root);
    await sleep(i % 4);
    let abandoned = true;
    try {
      writeFileSync(join(plan.dir, "started"), "abandoned\n", { flag: "wx" });
    } catch {
      abandoned = false;
    }
    await ended;
    const ran = text("times").split("\n").includes(String(i));
    outcomes.push(abandoned === ran ? "both or none" : "one");
  }
  expect(new Set(outcomes)).toEqual(new Set(["one"]));
});

test("a supervisor killed together with its harness leaves nothing running, and the outcome is unknown", async () => {
  const { dir, root, turn, text } = setUp();
  const input = { command: "echo $$ > pid; echo begun; sleep 43210; true" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  await runInDyingProcess({ dir, root, plan, command: input.command, killWhen: () => text("pid").endsWith("\n") });
  process.kill(supervisorOf(plan), "SIGKILL");
  expect(await turn.resume("bash", input, plan)).toEqual({
    content: "begun\n[interrupted: its supervisor is gone; whether the command finished is unknown]",
    isError: true,
  });
  expect(isRunning(Number(text("pid")))).toBe(false);
});

test("a supervisor killed under a living harness is an unknown outcome too, and its command is ended", async () => {
  const { turn, text, dir } = setUp();
  const calling = turn.call("bash", { command: "echo $$ > pid; sleep 32109; true" });
  await until(() => text("pid").endsWith("\n"));
  const [id] = jobsIn(dir);
  process.kill(supervisorOf({ dir: join(dir, id!) } as JobPlan), "SIGKILL");
  expect(await calling).toEqual({
    content: "[interrupted: its supervisor is gone; whether the command finished is unknown]",
    isError: true,
  });
  expect(isRunning(Number(text("pid")))).toBe(false);
});

test("a background command whose placeholder was lost is adopted in the background and reported once", async () => {
  const { dir, root, turn, text } = setUp();
  const input = { command: "echo run >> times; sleep 0.3; echo end", run_in_background: true };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  await runInDyingProcess({ dir, root, plan, command: input.command, killWhen: () => text("times") !== "" });
  const output = await turn.resume("bash", input, plan);
  expect(output.content).toBe(`[Background job ${plan.jobId} started]`);
  const jobs = createJobs({ dir });
  expect(jobs.outstanding!(turn)).toMatchObject([{ what: "background job", count: 1, keepsProcess: true }]);
  await jobs.wake!(turn, new AbortController().signal);
  const notes = await jobs.seams!.intake!(turn);
  const { durationMs: _, ...ended } = notes[0]!.events![0]!.data as Record<string, unknown>;
  expect(ended).toEqual({ jobId: plan.jobId, status: "completed", exitCode: 0, tail: "end\n" });
  expect([notes.length, jobs.outstanding!(turn)[0]?.count ?? 0, text("times")]).toEqual([1, 0, "run\n"]);
});

test("a harness may leave while a job runs in the background", async () => {
  const { dir, root, turn } = setUp();
  const plan = (await turn.intend("bash", { command: "x" })) as JobPlan;
  const command = "sleep 21098; true";
  const args = [join(import.meta.dirname, "parent.ts"), dir, root, command, JSON.stringify(plan), "leave"];
  const parent = spawn(process.execPath, args, { stdio: "ignore" });
  expect(await once(parent, "exit")).toEqual([0, null]);
  await until(() => listJobs(dir).some((j) => j.status === "running"));
  expect(await killJob(dir, plan.jobId)).toBe(true);
});

test("an intent of another boot that left no trace is unknown, never run", async () => {
  const { turn, text } = setUp();
  const input = { command: "echo run >> times" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  const output = await turn.resume("bash", input, { ...plan, boot: "another" });
  expect([output.isError, turn.reran, text("times")]).toEqual([true, false, ""]);
  expect(output.content).toBe(
    "[interrupted: another machine ran this, or this one before it was restarted, and it cannot be seen from here: whether the command ran, and how far it came, is unknown. Look before you repeat it]",
  );
});

test("a copy of a context does not take the original's job: unknown, never run, and the original's result is still there", async () => {
  const { dir, root, turn, text } = setUp();
  const input = { command: "echo run >> times; echo done" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  await runInDyingProcess({
    dir,
    root,
    plan,
    command: input.command,
    killWhen: () => existsSync(join(plan.dir, "exit")),
  });
  const copy = testTurn([createJobs({ dir })], { root, context: "ctx_copy" });
  expect((await copy.resume("bash", input, plan)).isError).toBe(true);
  expect([copy.reran, text("times")]).toEqual([false, "run\n"]);
  expect(await turn.resume("bash", input, plan)).toEqual({ content: "done", isError: false });
});

test("a process that only has the same number is not the supervisor", async () => {
  const { turn } = setUp();
  const plan = (await turn.intend("bash", { command: "true" })) as JobPlan;
  mkdirSync(plan.dir, { recursive: true });
  const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8").trim();
  writeFileSync(join(plan.dir, "started"), `${process.pid} ${stat}\n`);
  expect(jobState(plan.dir).phase).toBe("running");
  const fields = stat.split(" ");
  fields[21] = "1";
  writeFileSync(join(plan.dir, "started"), `${process.pid} ${fields.join(" ")}\n`);
  expect(jobState(plan.dir).phase).toBe("lost");
});

test("an exit file without its newline is not finished", async () => {
  const { turn } = setUp();
  const plan = (await turn.intend("bash", { command: "true" })) as JobPlan;
  mkdirSync(plan.dir, { recursive: true });
  writeFileSync(join(plan.dir, "started"), "999999999 999999999 (sh) S 1 1\n");
  writeFileSync(join(plan.dir, "exit"), "12");
  expect(jobState(plan.dir).phase).toBe("lost");
  writeFileSync(join(plan.dir, "exit"), "12\n");
  expect(jobState(plan.dir)).toEqual({ phase: "ended", said: "12" });
});

test("a background job of another machine is reported as unknown", async () => {
  const { turn, dir } = setUp();
  const data = { jobId: "job_x", callId: "c1", command: "x", dir: join(dir, "job_x"), boot: "b", background: true };
  await turn.append([{ type: "job.started", data }]);
  const notes = await createJobs({ dir }).seams!.intake!(turn);
  expect(notes.map((n) => n.events)).toEqual([
    [{ type: "job.ended", data: { jobId: "job_x", status: "unknown", durationMs: 0, tail: "" } }],
  ]);
});

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("an intent that names no job of the house leads to no folder: it is unknown, and nothing is written", async () => {
  const { dir, turn, root } = setUp();
  const victim = join(dir, "..", "victim");
  mkdirSync(victim);
  const input = { command: "echo run >> times" };
  const plan = (await turn.intend("bash", input)) as JobPlan;
  for (const jobId of ["../victim", "job_x/../../victim", "", 7, undefined]) {
    const output = await turn.resume("bash", input, { ...plan, jobId });
    expect(output.content).toContain("cannot be seen from here");
  }
  expect([readdirSync(victim), existsSync(join(root, "times"))]).toEqual([[], false]);
});
