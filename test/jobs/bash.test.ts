import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { killJob, listJobs, showJob } from "../../src/mechanisms/jobs/job-dir.ts";
import { startModelServer } from "../../src/testing/model-server.ts";
import { scratch, testTurn } from "../turn.ts";

function setUp(opts: { hardLimitMs?: number; outputBytes?: number } = {}) {
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  const dir = join(base, "jobs");
  mkdirSync(root);
  const turn = testTurn([createJobs({ dir, ...opts })], { root });
  return { base, root, dir, turn, jobsLeft: () => readdirSync(dir).filter((name) => name.startsWith("job_")) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

const jobOutputIs = (dir: string, id: string, text: string) => showJob(dir, id)?.output === text;

/** Whether any process still has this word in its command line. */
function runs(word: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      // A whole argument: the supervisor's own arguments hold long numbers that may contain it by chance.
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  });
}

test("a command's output and standard error come back in order, and its directory is removed", async () => {
  const { turn, jobsLeft } = setUp();
  const output = await turn.call("bash", { command: "echo one; echo two >&2; echo three" });
  expect(output).toEqual({ content: "one\ntwo\nthree", isError: false });
  await until(() => jobsLeft().length === 0);
});

test("no output is said in words", async () => {
  const { turn } = setUp();
  expect(await turn.call("bash", { command: "true" })).toEqual({ content: "(no output)", isError: false });
});

test("a non-zero exit code is an error result with the code", async () => {
  const { turn } = setUp();
  expect(await turn.call("bash", { command: "echo no; exit 3" })).toEqual({
    content: "no\n[exit code 3]",
    isError: true,
  });
  expect(turn.ran).toEqual({ status: "failed", exitCode: 3, ms: expect.any(Number) });
});

test("a command killed by a signal names it", async () => {
  const { turn } = setUp();
  const output = await turn.call("bash", { command: "kill -9 $$" });
  expect(output).toEqual({ content: "[exit code 137 (SIGKILL)]", isError: true });
});

test("standard input is closed", async () => {
  const { turn } = setUp();
  expect(await turn.call("bash", { command: "cat; echo end" })).toEqual({
    content: "end",
    isError: false,
  });
});

test("invalid UTF-8 is replaced, not refused", async () => {
  const { turn } = setUp();
  expect(await turn.call("bash", { command: "printf 'a\\xffb'" })).toEqual({
    content: "a\ufffdb",
    isError: false,
  });
});

test("quotes, newlines and dollar signs reach the command as written", async () => {
  const { turn } = setUp();
  const output = await turn.call("bash", { command: `x='it'"'"'s'\necho "$x" '$HOME' \\\\` });
  expect(output).toEqual({ content: "it's $HOME \\", isError: false });
});

test("a command over the size of an argument runs all the same", async () => {
  const { turn } = setUp();
  const output = await turn.call("bash", { command: `echo ${"x".repeat(300_000)} | wc -c` });
  expect(output).toEqual({ content: "300001", isError: false });
});

test("the directory persists between calls", async () => {
  const { turn, root } = setUp();
  mkdirSync(join(root, "it's here"));
  await turn.call("bash", { command: 'cd "it\'s here"' });
  expect(turn.events.map((e) => [e.type, e.data])).toEqual([["agent.moved", { cwd: join(root, "it's here") }]]);
  expect(await turn.call("bash", { command: "pwd" })).toEqual({
    content: join(root, "it's here"),
    isError: false,
  });
  expect(turn.events.length).toBe(1);
});

test("a directory outside the root is not kept, also not through a link", async () => {
  const { turn, root, base } = setUp();
  const said = `[directory stays ${root}: ${base} is outside ${root}]`;
  expect(await turn.call("bash", { command: "cd .." })).toEqual({
    content: `(no output)\n${said}`,
    isError: false,
  });
  symlinkSync(base, join(root, "out"));
  expect(await turn.call("bash", { command: "cd out" })).toEqual({
    content: `(no output)\n${said}`,
    isError: false,
  });
  expect(turn.events).toEqual([]);
});

test("a directory that was removed says so and the agent goes back to the root", async () => {
  const { turn, root } = setUp();
  await turn.call("bash", { command: "mkdir sub; cd sub; rmdir ../sub" });
  turn.cwd = join(root, "sub");
  const output = await turn.call("bash", { command: "pwd" });
  expect(output).toEqual({
    content: `the directory ${join(root, "sub")} no longer exists; the next command starts in ${root}`,
    isError: true,
    events: [{ type: "agent.moved", data: { cwd: root } }],
  });
});

test("a command over a started-ahead supervisor behaves the same", async () => {
  const { turn, root } = setUp();
  for (let i = 0; i < 3; i++) {
    expect(await turn.call("bash", { command: `pwd; echo \${OLDPWD-none} $# $0; false` })).toEqual({
      content: `${root}\nnone 0 bash\n[exit code 1]`,
      isError: true,
    });
    await sleep(60);
  }
});

test("an error in the command names bash and the line", async () => {
  const { turn } = setUp();
  const output = await turn.call("bash", { command: "echo fine\nno-such-command-here" });
  expect(output.content).toMatch(/^fine\nbash: line 2: no-such-command-here: command not found\n\[exit code 127\]$/);
  const broken = await turn.call("bash", { command: "echo 'open" });
  expect(broken).toMatchObject({ isError: true });
  expect(broken.content).toMatch(/unexpected EOF/);
});

test("secrets of our environment do not reach a command", async () => {
  const { turn } = setUp();
  process.env.TEST_API_KEY = "sk-1";
  process.env.XDG_TOKEN = "t";
  onTestFinished(() => {
    delete process.env.TEST_API_KEY;
    delete process.env.XDG_TOKEN;
  });
  const output = await turn.call("bash", {
    command: "env | grep -c -e KEY -e TOKEN; echo $GIT_TERMINAL_PROMPT $TERM $PAGER",
  });
  expect(output).toEqual({ content: "0\n0 dumb cat", isError: false });
});

test("what a command leaves in the background dies with the call", async () => {
  const { turn } = setUp();
  expect(await turn.call("bash", { command: "sleep 98765 & echo started" })).toEqual({
    content: "started",
    isError: false,
  });
  await until(() => !runs("98765"));
});

test("an interrupt kills the whole process group and keeps what was printed", async () => {
  const { turn } = setUp();
  const stop = new AbortController();
  const calling = turn.call(
    "bash",
    { command: "echo before; (sleep 87654; true) & sleep 87654; true" },
    { signal: stop.signal },
  );
  await until(() => runs("87654"));
  await sleep(20);
  stop.abort();
  expect(await calling).toEqual({
    content: "before\n[interrupted by the user; the command was killed]",
    isError: true,
  });
  expect(runs("87654")).toBe(false);
});

test("an interrupt kills a command that ignores SIGTERM", async () => {
  const { turn, dir } = setUp();
  const stop = new AbortController();
  const calling = turn.call(
    "bash",
    { command: "trap '' TERM; echo deaf; while :; do sleep 0.1; done" },
    { signal: stop.signal },
  );
  await until(() => listJobs(dir).some((j) => jobOutputIs(dir, j.jobId, "deaf\n")));
  stop.abort();
  expect(await calling).toEqual({ content: "deaf\n[interrupted by the user; the command was killed]", isError: true });
});

test("a command sees Ctrl-C: SIGINT is not ignored", async () => {
  const { turn } = setUp();
  const output = await turn.call("bash", { command: "bash -c 'kill -INT $$; echo survived'; echo $?" });
  expect(output).toEqual({ content: "130", isError: false });
});

test("at its hard limit the whole group is killed and the result says so", async () => {
  const { turn } = setUp({ hardLimitMs: 800 });
  const output = await turn.call("bash", { command: "echo begun; sleep 76543; true" });
  expect(output).toEqual({ content: "begun\n[killed at its hard time limit]", isError: true });
  await until(() => !runs("76543"));
});

test("a runaway printer is bounded to head and tail", async () => {
  const { turn } = setUp({ outputBytes: 400_000, hardLimitMs: 1_000 });
  const output = await turn.call("bash", { command: "echo HEAD; yes" });
  const text = output.content as string;
  expect(text.slice(0, 9)).toBe("HEAD\ny\ny\n");
  expect(text).toMatch(/\[… \d+ bytes were not kept …\]/);
  const last = text.slice(-130);
  expect(last).toMatch(/y\n\[killed at its hard time limit\]\n\[\d+ bytes .* the last 100000\]$/);
  expect(text.length).toBeLessThan(250_000);
});

test("a command that outlives its wait moves to the background and is reported once", async () => {
  const { turn, dir } = setUp();
  const output = await turn.call("bash", { command: "echo first; sleep 1; echo last; exit 4", timeout_ms: 500 });
  const [job] = listJobs(dir);
  const id = job!.jobId;
  expect(output.content).toBe(
    `first\n[Background job ${id} started: still running, you will be told when it ends; see job_output, job_kill]`,
  );
  expect(turn.events.map((e) => e.type)).toEqual(["job.started", "job.backgrounded"]);
  const jobs = createJobs({ dir });
  expect(await jobs.seams!.intake!(turn)).toEqual([]);
  await jobs.wake!(turn, new AbortController().signal);
  const notes = await jobs.seams!.intake!(turn);
  expect(notes.length).toBe(1);
  expect(notes[0]!.text.replace(/<duration>[\d.]+/, "<duration>T")).toBe(
    [
      "<task_notification>",
      `<id>${id}</id>`,
      "<status>failed</status>",
      "<exit_code>4</exit_code>",
      "<duration>T s</duration>",
      "<command>echo first; sleep 1; echo last; exit 4</command>",
      `<output path="job:${id}" chars="11">first\nlast\n</output>`,
      "</task_notification>",
      `The whole output: job_output id ${id}`,
    ].join("\n"),
  );
  await turn.append(notes[0]!.events!);
  expect(await jobs.seams!.intake!(turn)).toEqual([]);
  expect((await turn.call("job_output", { id })).content).toBe("first\nlast\n[exit code 4]");
});

test("a background job answers at once, is listed, and can be killed", async () => {
  const { turn, dir } = setUp();
  const output = await turn.call("bash", { command: "echo up; sleep 65432; true", run_in_background: true });
  const id = /job_\w+/.exec(output.content as string)![0];
  expect(output).toMatchObject({ content: `[Background job ${id} started]` });
  await until(() => jobOutputIs(dir, id, "up\n"));
  expect((await turn.call("list_jobs", {})).content).toBe(`${id} running: echo up; sleep 65432; true`);
  expect((await turn.call("job_output", { id, offset: 0 })).content).toBe("up\n[still running]");
  expect(await turn.call("job_kill", { id })).toEqual({ content: `job ${id} killed` });
  expect(runs("65432")).toBe(false);
  expect(await turn.call("job_kill", { id })).toEqual({ content: `job ${id} has already ended (killed)` });
  const notes = await createJobs({ dir }).seams!.intake!(turn);
  expect(notes.map((n) => (n.events![0]!.data as { status: string }).status)).toEqual(["killed"]);
});

test("the command line lists and kills jobs with no harness running", async () => {
  const { turn, dir, root } = setUp();
  await turn.call("bash", { command: "sleep 54321; true", run_in_background: true });
  await until(() => runs("54321"));
  const [job] = listJobs(dir);
  const { jobId, startedAt, ...rest } = job!;
  expect(rest).toEqual({
    context: "ctx_test",
    agent: "lead",
    command: "sleep 54321; true",
    cwd: root,
    status: "running",
  });
  expect([await killJob(dir, jobId), await killJob(dir, jobId), await killJob(dir, "../x")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(runs("54321")).toBe(false);
  expect(listJobs(dir)[0]!.status).toBe("killed");
});

test("a job of another context is not shown", async () => {
  const { turn, dir, root } = setUp();
  const output = await turn.call("bash", { command: "true", run_in_background: true });
  const id = /job_\w+/.exec(output.content as string)![0];
  const other = testTurn([createJobs({ dir })], { root, context: "ctx_other" });
  expect(await other.call("job_output", { id })).toEqual({ content: `no job ${id}; see list_jobs`, isError: true });
  expect(await other.call("list_jobs", {})).toEqual({ content: "(no jobs)" });
});

test("progress is shown while a command runs", async () => {
  const { turn } = setUp();
  await turn.call("bash", { command: "echo early; sleep 1.3; echo late" });
  expect(turn.progress[0]).toEqual({ type: "output", callId: "c1", text: "early\n" });
});

test("a command that cannot be started is an error result", async () => {
  const { turn, dir } = setUp();
  writeFileSync(dir, "not a directory");
  const output = await turn.call("bash", { command: "true" });
  expect(output.isError).toBe(true);
  expect(output.content).toMatch(/^the command could not be started: /);
});

test("works with a folder for jobs that is given relative to where the program runs", async () => {
  const server = await startModelServer({
    script: [{ calls: [{ name: "bash", input: { command: "echo here" } }] }, { text: "done" }],
  });
  onTestFinished(() => server.close());
  const from = (file: string) => JSON.stringify(join(import.meta.dirname, "../../src", file));
  const program = `
    import { createHarness } from ${from("harness.ts")};
    import { openSqliteStore } from ${from("ledger/sqlite/index.ts")};
    import { openModel } from ${from("models/open-model.ts")};
    const model = await openModel("openai-compatible/mock", { env: process.env });
    const store = await openSqliteStore("state/ledger.db");
    const harness = createHarness({ model, store, root: ".", jobsDir: "state/jobs", permissionMode: "bypass" });
    const run = await harness.run("go");
    await run.result;
    for await (const { type, data } of store.read(run.context)) if (type === "tool.finished") console.log(data.content[0].text);
    await harness.close();
    await store.close();`;
  const env = { PATH: process.env.PATH, OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: "none" };
  const args = ["--input-type=module", "-e", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: scratch(onTestFinished), env });
  expect(stdout).toBe("here\n");
});
