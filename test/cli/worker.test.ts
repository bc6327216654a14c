// `holdfast worker` through the command line: several projects, interrupted workflows, what it refuses, how it ends.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { scratch } from "../turn.ts";
import { runCli, startCli } from "./cli.ts";

const MODEL = ["--model", "openai-compatible/mock"];

async function setUp(script: Script) {
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  return { server, opts: { cwd: scratch(onTestFinished), state: scratch(onTestFinished), env } };
}

type Opts = Awaited<ReturnType<typeof setUp>>["opts"];

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400 && !(await condition()); i++) await sleep(50);
  expect(await condition()).toBe(true);
}

/** Contract: ends with the test; `stderr` is what it said so far. */
function start(args: string[], opts: Opts) {
  const worker = startCli(["worker", ...MODEL, ...args], opts);
  const said = { stderr: "" };
  worker.child.stderr!.on("data", (text) => {
    said.stderr += text;
  });
  onTestFinished(async () => {
    worker.child.kill("SIGKILL");
    await worker.exited;
  });
  return { ...worker, said };
}

const statusOf = async (context: string, opts: Opts) =>
  JSON.parse((await runCli(["contexts", "ls", "--json"], opts)).stdout).find(
    (one: { id: string }) => one.id === context,
  )?.status;

test("one worker hosts the schedules of the projects that it is told, and of none twice", async () => {
  const { opts, server } = await setUp(() => ({ text: "Time!" }));
  const other = { ...opts, cwd: scratch(onTestFinished) };
  const contexts: string[] = [];
  for (const one of [opts, other]) {
    const added = await runCli(["cron", "add", "in 1 second", "the", "meeting", "--json"], one);
    contexts.push(JSON.parse(added.stdout).context);
  }
  const { child, exited, said } = start([opts.cwd, other.cwd, opts.cwd], opts);
  await until(() => server.log().requests.length === 2);
  await until(async () => (await statusOf(contexts[1]!, other)) === "completed");
  child.kill("SIGTERM");
  const { code } = await exited;
  expect([code, said.stderr]).toEqual([
    0,
    expect.stringContaining(`Hosting teams, schedules and workflows of ${opts.cwd}, ${other.cwd}.`),
  ]);
  expect(said.stderr).toContain("Ending: nothing runs.");
});

const WORKFLOW = `name: two steps
phases:
  - { id: find, agent: general-purpose, prompt: "Find it." }
  - { id: tell, agent: general-purpose, needs: [find], prompt: "Tell it." }
`;

test("a workflow whose process was killed goes on in a worker, and what was finished is not done again", {
  timeout: 60_000,
}, async () => {
  let isSlow = true;
  const asked: string[] = [];
  const { opts } = await setUp(async ({ body }) => {
    const isTelling = JSON.stringify(body.messages).includes("Tell it.");
    asked.push(isTelling ? "tell" : "find");
    if (isTelling && isSlow) await sleep(30_000);
    return { text: "done" };
  });
  fs.writeFileSync(path.join(opts.cwd, "w.yaml"), WORKFLOW);
  const first = startCli(["workflow", "run", "w.yaml", ...MODEL], opts);
  await until(() => asked.includes("tell"));
  first.child.kill("SIGKILL");
  await first.exited;
  isSlow = false;
  const { said } = start([], opts);
  const show = async () => JSON.parse((await runCli(["workflow", "ls", "--json"], opts)).stdout)[0];
  await until(async () => (await show()).state === "done");
  expect(asked.filter((phase) => phase === "find").length).toBe(1);
  expect(said.stderr).toContain("its workflow two steps was interrupted; it goes on here");
});

test("a worker that is told to end leaves a workflow for the next one", { timeout: 60_000 }, async () => {
  let isSlow = true;
  const { opts, server } = await setUp(async () => {
    if (isSlow) await sleep(30_000);
    return { text: "done" };
  });
  fs.writeFileSync(path.join(opts.cwd, "w.yaml"), WORKFLOW);
  const first = startCli(["workflow", "run", "w.yaml", ...MODEL], opts);
  await until(() => server.log().requests.length === 1);
  first.child.kill("SIGKILL");
  await first.exited;
  const second = start(["--drain", "200ms"], opts);
  await until(() => server.log().requests.length === 2);
  second.child.kill("SIGTERM");
  expect((await second.exited).code).toBe(0);
  expect(second.said.stderr).toContain("one agent comes to the end of a round, for 1 s at most");
  isSlow = false;
  start([], opts);
  const show = async () => JSON.parse((await runCli(["workflow", "ls", "--json"], opts)).stdout)[0];
  await until(async () => (await show()).state === "done");
});

test("a context that was started with a wider mode is named and left alone, unless that is accepted", {
  timeout: 60_000,
}, async () => {
  const { opts } = await setUp(({ body }) => {
    const said = JSON.stringify(body.messages);
    if (!said.includes("schedule_cron"))
      return { calls: [{ name: "schedule_cron", input: { when: "in 1 second", prompt: "go on" } }] };
    if (said.includes("go on") && said.includes("I will") && !said.includes("echo was here"))
      return { calls: [{ name: "bash", input: { command: "curl --version > out; echo was here" } }] };
    return { text: said.includes("was here") ? "Done." : "I will." };
  });
  const run = await runCli(["-p", "begin", "--permission-mode", "bypassPermissions", ...MODEL, "--json"], opts);
  const [context] = /ctx_\w+/.exec(run.stdout + run.stderr) ?? [];
  const narrow = start([], opts);
  await until(() => narrow.said.stderr.includes("is not hosted"));
  await sleep(1_500);
  narrow.child.kill("SIGTERM");
  await narrow.exited;
  const lines = narrow.said.stderr.split("\n").filter((line) => line.includes("is not hosted"));
  expect(lines).toEqual([
    expect.stringContaining(
      `${context} is not hosted: it was started with --permission-mode bypassPermissions, and this worker has default: holdfast worker --accept-escalated`,
    ),
  ]);
  start(["--accept-escalated"], opts);
  await until(() => fs.existsSync(path.join(opts.cwd, "out")));
});

test.each([
  { name: "nothing", args: [], runs: true },
  { name: "deny rules", args: ["--disallowedTools", "Write,Edit,Bash"], runs: false },
  { name: "a narrower mode", args: ["--permission-mode", "dontAsk"], runs: false },
  {
    name: "a mode that is wide, and narrower than the worker's",
    args: ["--permission-mode", "acceptEdits"],
    runs: false,
  },
  { name: "ask rules", args: ["--settings", '{"permissions":{"ask":["Bash"]}}'], runs: false },
])("what a context was begun with holds in a worker that is given more: $name", { timeout: 60_000 }, async (one) => {
  const results: string[] = [];
  const { opts } = await setUp(({ body }) => {
    const said = JSON.stringify(body.messages);
    if (!said.includes("schedule_cron"))
      return { calls: [{ name: "schedule_cron", input: { when: "in 1 second", prompt: "go on" } }] };
    if (!said.includes("I will")) return { text: "I will." };
    if (!said.includes("echo was"))
      return { calls: [{ name: "bash", input: { command: "./make.sh; echo was here" } }] };
    results.push(said);
    return { text: "Done." };
  });
  fs.writeFileSync(path.join(opts.cwd, "make.sh"), "#!/bin/sh\necho x > out\n", { mode: 0o755 });
  await runCli(["-p", "begin", ...one.args, ...MODEL], opts);
  start(["--permission-mode", "bypassPermissions", "--approvals", "deny"], opts);
  await until(() => results.length > 0);
  expect(fs.existsSync(path.join(opts.cwd, "out"))).toBe(one.runs);
});

test("what a workflow was allowed is taken up by a worker only if that is accepted", { timeout: 60_000 }, async () => {
  let isSlow = true;
  const results: string[] = [];
  const { opts } = await setUp(async ({ body }) => {
    const said = JSON.stringify(body.messages);
    if (isSlow) await sleep(30_000);
    if (!said.includes("echo was"))
      return { calls: [{ name: "bash", input: { command: "./make.sh; echo was here" } }] };
    results.push(said);
    return { text: "done" };
  });
  fs.writeFileSync(path.join(opts.cwd, "make.sh"), "#!/bin/sh\necho x > out\n", { mode: 0o755 });
  fs.writeFileSync(path.join(opts.cwd, "w.yaml"), WORKFLOW);
  const out = path.join(opts.cwd, "out");
  for (const accepts of [false, true]) {
    isSlow = true;
    const args = ["workflow", "run", "w.yaml", "--allowedTools", "Bash(./make.sh *),Bash(./make.sh)", ...MODEL];
    const first = startCli(args, opts);
    await until(async () => (await runCli(["workflow", "ls", "--json"], opts)).stdout.includes('"running"'));
    first.child.kill("SIGKILL");
    await first.exited;
    isSlow = false;
    const before = results.length;
    const { said, child, exited } = start(["--approvals", "deny", ...(accepts ? ["--accept-escalated"] : [])], opts);
    await until(() => results.length > before);
    await until(async () => (await runCli(["workflow", "ls", "--json"], opts)).stdout.includes('"done"'));
    expect([fs.existsSync(out), said.stderr.includes("a worker takes it up only with --accept-escalated")]).toEqual([
      accepts,
      !accepts,
    ]);
    child.kill("SIGKILL");
    await exited;
  }
});

test.runIf(hasRedis())("a store that may lose what it has acknowledged is refused by the setting's name", async () => {
  const { opts } = await setUp(() => ({ text: "ok" }));
  const redis = await startRedis(["--appendonly", "yes", "--appendfsync", "everysec"]);
  onTestFinished(() => redis.stop());
  const there = { ...opts, env: { ...opts.env, HOLDFAST_STATE: redis.url("lossy") } };
  const refused = await runCli(["worker", ...MODEL], there);
  expect([refused.code, refused.stderr]).toEqual([
    expect.any(Number),
    expect.stringMatching(/appendfsync.*--accept-loss/),
  ]);
  expect(refused.code === 0).toBe(false);
  const both = await runCli(["worker", ...MODEL, "--accept-loss", opts.cwd, scratch(onTestFinished)], there);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining(`is the project of ${opts.cwd} (`)]);
  const accepted = start(["--accept-loss"], there);
  await until(() => accepted.said.stderr.includes("Hosting teams"));
});
