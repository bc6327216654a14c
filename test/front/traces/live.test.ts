// Processes that send what they did: at the ends of turns, once; whole over a kill and over several hosts; and never at the cost of the work.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../../src/contexts/project.ts";
import { openStore } from "../../../src/ledger/open-store.ts";
import { startModelServer } from "../../../src/testing/index.ts";
import type { Script } from "../../../src/testing/model-server-script.ts";
import { type CliOptions, runCli, startCli, stateEnv } from "../../cli/cli.ts";
import { byPrompt, task } from "../../subagents/script.ts";
import { call, seenIn } from "../../team/world.ts";
import { scratch } from "../../turn.ts";
import { type Body, type Collector, said, spansIn, startCollector } from "./collector.ts";

const MODEL = ["--model", "openai-compatible/mock", "--permission-mode", "bypass"];

async function setUp(script: Script) {
  const [server, collector] = await Promise.all([startModelServer({ script }), startCollector()]);
  onTestFinished(() => server.close());
  const env = { OPENAI_BASE_URL: server.openaiUrl, OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` };
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished), env };
  return { collector, opts };
}

/** What the ledger says, read afterwards. */
async function recorded(opts: CliOptions): Promise<Body[]> {
  const { stdout } = await runCli(["traces", "show", "--all"], opts);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : spansIn(JSON.parse(line))));
}

async function events(opts: CliOptions): Promise<string[]> {
  const { ledgers } = openProject({ cwd: opts.cwd, env: stateEnv(opts) });
  const store = await openStore(ledgers);
  const found: string[] = [];
  for await (const { ledger } of store.list({ prefix: "ctx_" }))
    for await (const { type, actor } of store.read(ledger)) found.push(`${actor} ${type}`);
  await store.close();
  return found;
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400 && !(await condition()); i++) await sleep(50);
  expect(await condition()).toBe(true);
}

/** Each once, and as the ledger has it. */
function expectOnce(collector: Collector, all: readonly Body[]): void {
  const byId = new Map(all.map((span) => [span.spanId, span]));
  const ids = collector.spans().map(({ spanId }) => spanId);
  expect(ids.length).toBe(new Set(ids).size);
  for (const span of collector.spans()) expect(span).toEqual(byId.get(span.spanId));
}

test("a turn with subagents is one trace, sent when it has ended; sent again it is the same", async () => {
  const { collector, opts } = await setUp(
    byPrompt(
      ["Leaf", [{ text: "leaf done" }]],
      ["Middle", [{ calls: [task("Leaf")] }, { text: "middle done" }]],
      ["Go", [{ calls: [task("Middle")] }, { text: "end" }]],
    ),
  );
  const { code, stderr } = await runCli(["-p", "Go", ...MODEL], opts);
  expect([code, stderr.includes("traces")]).toEqual([0, false]);
  const all = await recorded(opts);
  expectOnce(collector, all);
  expect(collector.spans().length).toBe(all.length);
  const byId = new Map(all.map((span) => [span.spanId, span]));
  /** From a leaf to the root. */
  const path = (span: Body): string[] =>
    span ? [`${said(span)["gen_ai.agent.id"]} ${span.name}`, ...path(byId.get(span.parentSpanId))] : [];
  const leaf = all.find(({ name, spanId }) => name.startsWith("invoke_agent") && path(byId.get(spanId)).length === 5);
  expect(path(leaf).map((line) => line.replace(/^ctx_\w+\//, ""))).toEqual([
    "lead.c1.c1 invoke_agent general-purpose",
    "lead.c1 execute_tool task",
    "lead.c1 invoke_agent general-purpose",
    "lead execute_tool task",
    "lead invoke_agent lead",
  ]);
  expect(new Set(all.map(({ traceId }) => traceId)).size).toBe(1);
  await runCli(["traces", "send"], opts);
  expect(collector.requests.at(-1)!.body).toEqual(collector.requests[0]!.body);
});

test("a turn whose host is killed and that another goes on with is one span, sent once", async () => {
  const { collector, opts } = await setUp([
    { calls: [{ name: "glob", input: { pattern: "*" } }] },
    { calls: [{ name: "bash", input: { command: "sleep 2" } }] },
    { text: "done" },
  ]);
  const first = startCli(["-p", "go", ...MODEL], opts);
  await until(async () => (await events(opts)).filter((one) => one === "lead tool.started").length === 2);
  await sleep(1_300); // it would have sent something by now
  first.child.kill("SIGKILL");
  await first.exited;
  expect(collector.requests).toEqual([]);
  const interrupted = await recorded(opts);
  expect(interrupted.map(({ name }) => name)).toEqual(["chat mock", "execute_tool glob", "chat mock"]);
  const { code } = await runCli(["-p", "-c", ...MODEL], opts);
  const all = await recorded(opts);
  expectOnce(collector, all);
  expect([code, collector.spans().length]).toEqual([0, all.length]);
  expect(all.map(({ name }) => name)).toEqual([
    ...["chat mock", "execute_tool glob", "chat mock", "execute_tool bash", "chat mock", "invoke_agent lead"],
  ]);
  expect(all.slice(0, 3)).toEqual(interrupted);
  expect(all.at(-1).events.map(({ name }: Body) => name)).toEqual(["holdfast.agent.taken"]);
});

test("a teammate that another process runs is part of the trace of its lead", { timeout: 60_000 }, async () => {
  const { collector, opts } = await setUp((request) => {
    const { agent, last, since } = seenIn(request);
    if (agent !== "lead") return since === 0 ? call("bash", { command: "sleep 3; echo mate" }) : { text: "Ready." };
    const spawn = { name: "alice", role: "writer", prompt: "Hello alice." };
    return last === "begin" && since === 0 ? call("spawn_teammate", spawn) : { text: "noted" };
  });
  const lead = startCli(["-p", "begin", "--stay", ...MODEL], opts);
  await until(async () => (await events(opts)).includes("alice tool.started"));
  await until(() => collector.spans().some(({ name }) => name === "invoke_agent lead"));
  lead.child.kill("SIGKILL");
  await lead.exited;
  const sentByLead = collector.requests.length;
  const worker = startCli(["worker", ...MODEL], opts);
  onTestFinished(async () => {
    worker.child.kill("SIGKILL");
    await worker.exited;
  });
  await until(() => collector.spans().some(({ name }) => name === "invoke_agent alice"));
  worker.child.kill("SIGTERM");
  await worker.exited;
  const all = await recorded(opts);
  expectOnce(collector, all);
  const [byLead, byWorker] = [collector.requests.slice(0, sentByLead), collector.requests.slice(sentByLead)].map(
    (some) => some.flatMap(({ body }) => spansIn(body)),
  );
  const root = byLead!.find(({ name }) => name === "invoke_agent lead");
  const mate = byWorker!.find(({ name }) => name === "invoke_agent alice");
  const spawned = byLead!.find(({ name }) => name === "execute_tool spawn_teammate");
  expect([mate.traceId, mate.parentSpanId, spawned.parentSpanId]).toEqual([root.traceId, spawned.spanId, root.spanId]);
});

test("a collector that is not there, hangs or refuses costs the work nothing, and is said in one line", async () => {
  const { collector, opts } = await setUp([{ text: "done" }]);
  const run = async (env: Record<string, string>) => {
    const { code, stdout, stderr } = await runCli(["-p", "go", ...MODEL], { ...opts, env: { ...opts.env, ...env } });
    expect([code, stdout]).toEqual([0, expect.stringContaining("done")]);
    return stderr.split("\n").filter((line) => /traces|OTEL/.test(line));
  };
  const closed = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://user:hunter2@127.0.0.1:9/?key=hunter2" };
  const [line, ...more] = await run(closed);
  expect([line, more]).toEqual([expect.stringMatching(/^holdfast: traces: .*not.* sent/), []]);
  expect(line).toMatch(/`holdfast traces send ctx_\w+ --cwd \S+.*` sends them$/);
  expect(line).not.toContain("hunter2");
  collector.hangs = true;
  expect(await run({ OTEL_EXPORTER_OTLP_TIMEOUT: "300" })).toEqual([expect.stringContaining("traces:")]);
  collector.hangs = false;
  collector.answers.push({ status: 401, body: "no" });
  expect(await run({})).toEqual([expect.stringContaining("answered 401")]);
  collector.answers.push({ status: 503, headers: { "retry-after": "0" } });
  expect([await run({}), collector.spans().length]).toEqual([[], 2]);
  expect(await run({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toEqual([expect.stringContaining("only http/json")]);
  const offs: Record<string, string>[] = [{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }];
  for (const off of offs) expect([await run(off), collector.spans().length]).toEqual([[], 2]);
  const failed = await runCli(["traces", "send"], { ...opts, env: { ...opts.env, ...closed } });
  expect([failed.code, failed.stderr.includes("hunter2"), failed.stderr.includes("cannot be reached")]).toEqual([
    ...[failed.code, false, true],
  ]);
  expect(failed.code).not.toBe(0);
});

test("a repository cannot say where traces go", async () => {
  const { collector, opts } = await setUp([{ text: "done" }]);
  writeFileSync(join(opts.cwd, ".env"), `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\n`);
  const { OTEL_EXPORTER_OTLP_ENDPOINT: _, ...env } = opts.env;
  const { code } = await runCli(["-p", "go", ...MODEL], { ...opts, env });
  const sent = await runCli(["traces", "send"], { ...opts, env });
  expect([code, sent.code === 0, sent.stderr, collector.requests]).toEqual([
    ...[0, false, expect.stringContaining("set OTEL_EXPORTER_OTLP_ENDPOINT"), []],
  ]);
});
