// What is counted of a context: from its events alone, once, also over a fork, a restore and a restart.
import { expect, onTestFinished, test } from "vitest";
import { countContexts } from "../../../src/front/metrics/count-contexts.ts";
import { type ContextCounts, cacheBreaks, countsSlice, dataBytes } from "../../../src/front/metrics/counts.ts";
import { figuresOf } from "../../../src/front/metrics/figures.ts";
import { contextReaders } from "../../../src/front/monitor/readers.ts";
import { openRedisStore } from "../../../src/ledger/redis/index.ts";
import type { EventInput, Store } from "../../../src/ledger/store.ts";
import { hasRedis, startRedis } from "../../ledger/redis-server.ts";
import { makeLongContext } from "../monitor/long-context.ts";
import { openWorld } from "../monitor/monitor.ts";

function counting(store: Store) {
  const { readers, promptCache } = contextReaders();
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  return countContexts({ store, codec: readers.codec, slice: countsSlice(promptCache), signal: ends.signal });
}

const reply = (model: string, output: number): EventInput => ({
  type: "reply.received",
  actor: "lead",
  data: { model, parts: [], finish: "stop", usage: { input: 10, output, cacheRead: 5, cacheWrite: 1 } },
});
const finished = (name: string, more: object): EventInput => ({
  type: "tool.finished",
  actor: "lead",
  data: { callId: "c1", name, content: [], isError: false, durationMs: 70, ...more },
});
const begun = (name: string, actor = "lead"): EventInput => ({
  ...{ type: "tool.started", actor },
  data: { callId: "c1", name, input: {}, effect: "read", cwd: "/" },
});
const shared = (key: string, bytes: number): EventInput => ({
  type: "data.shared",
  actor: "lead",
  data: { key, hash: "", bytes, type: "string", preview: "" },
});
const checkpoint: EventInput = { type: "context.checkpointed", actor: "lead", data: { name: "one", auto: false } };

async function countsOf(store: Store, id: string) {
  const counts = counting(store);
  await counts.upToDate([{ id, events: await store.head(id) }]);
  return counts.of(id)!;
}

test("calls, tokens, retries, tools, turns and takeovers are counted; refused calls are not durations", async () => {
  const { store } = await openWorld();
  const retried = { kind: "overloaded", attempt: 1, delayMs: 5, model: "m", message: "" };
  const taken = { from: { machine: "m", pid: 7, was: "gone" }, by: { machine: "m", pid: 8 } };
  await store.append([
    {
      ledger: "ctx_one",
      events: [
        { type: "agent.created", actor: "lead", data: { name: "lead", cwd: "/" } },
        reply("anthropic/claude-sonnet-4-5", 7),
        { ...reply("x/y", 3), type: "reply.aside", data: { model: "x/y", for: "t", usage: usageOf(3) } },
        { type: "model.retried", actor: "lead", data: retried },
        finished("bash", {}),
        finished("bash", { durationMs: 700_000, isError: true, ran: { status: "killed", ms: 1, lostLease: true } }),
        finished("bash", { denied: "no" }),
        finished("evil\nname", { durationMs: 10 }),
        { type: "agent.taken", actor: "lead", data: taken },
        { type: "turn.ended", actor: "lead", data: { turnId: "t", reason: "done", text: "" } },
      ],
    },
  ]);
  const { cache: _, ...counts } = await countsOf(store, "ctx_one");
  expect(counts).toEqual({
    models: {
      "anthropic/claude-sonnet-4-5": { replies: 1, asides: 0, usage: usageOf(7) },
      "x/y": { replies: 0, asides: 1, usage: usageOf(3) },
    },
    retries: { overloaded: 1 },
    tools: {
      bash: { calls: 2, errors: 1, ms: 700_070, buckets: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
      "evil name": { calls: 1, errors: 0, ms: 10, buckets: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
    },
    refused: 1,
    turns: { done: 1 },
    takeovers: { gone: 1 },
    killedCommands: 1,
    agents: 1,
    data: {},
    checkpointedAt: 0,
    breaksBefore: {},
    begun: {},
  });
});

test("a name that no tool has is no name of its own: a model may have written anything there", async () => {
  const { store } = await openWorld();
  const fails = { isError: true, durationMs: 10 };
  await store.append([
    {
      ledger: "ctx_names",
      events: [
        finished("the password is hunter2", fails),
        finished("edit_file", fails), // with wrong arguments: it never began, and the house has it
        ...[begun("mcp__x__y"), finished("mcp__x__y", fails), finished("mcp__x__y", fails)],
        ...[begun("mcp__x__z"), { ...finished("anything", fails), actor: "alice" }],
        { type: "turn.ended", actor: "lead", data: { turnId: "t", reason: "done", text: "" } },
        finished("mcp__x__z", fails),
      ],
    },
  ]);
  const { tools, begun: open } = await countsOf(store, "ctx_names");
  expect(Object.entries(tools).map(([name, { calls, errors }]) => [name, calls, errors])).toEqual([
    ["unknown", 3, 3],
    ["edit_file", 1, 1],
    ["mcp__x__y", 2, 2],
  ]);
  expect(open).toEqual({});
});

const usageOf = (output: number) => ({ input: 10, output, cacheRead: 5, cacheWrite: 1 });

test("shared data is counted as it is after a restore", async () => {
  const { store } = await openWorld();
  const append = (...events: EventInput[]) => store.append([{ ledger: "ctx_data", events }]);
  await append(shared("a", 100), shared("__proto__", 5), checkpoint);
  await append(shared("a", 4_000), shared("a", 5_000), shared("b", 7));
  const before = await countsOf(store, "ctx_data");
  const parts = { conversation: false, data: true, files: false };
  await append({ type: "context.restored", actor: "user", data: { checkpoint: "one", seq: 3, ...parts } });
  const after = await countsOf(store, "ctx_data");
  await append({ type: "data.removed", actor: "lead", data: { key: "a" } });
  expect([before, after, await countsOf(store, "ctx_data")].map(dataBytes)).toEqual([5_012, 105, 5]);
  expect(before.data.a).toEqual([
    [1, 100],
    [5, 5_000],
  ]);
});

test("a copy counts from where it began: what it brought was counted where it happened", async () => {
  const { store } = await openWorld();
  const origin = { context: "ctx_first", checkpoint: "one", seq: 3, title: "" };
  await store.append([
    {
      ledger: "ctx_copy",
      events: [
        reply("x/y", 7),
        shared("a", 100),
        checkpoint,
        { type: "context.forked", actor: "user", data: origin },
        reply("x/y", 2),
      ],
    },
  ]);
  const counts = await countsOf(store, "ctx_copy");
  expect([counts.models, dataBytes(counts), cacheBreaks(counts)]).toEqual([
    { "x/y": { replies: 1, asides: 0, usage: usageOf(2) } },
    100,
    {},
  ]);
});

test("figures come together, and only what is new is read; a restart begins with a snapshot", async () => {
  const { store, root } = await openWorld();
  const ids = await Promise.all([1, 2, 3].map(() => makeLongContext(store, { root, events: 1_000 })));
  const counts = counting(store);
  const figures = figuresOf(counts);
  const told: (readonly string[])[] = [];
  const first = new Promise<void>((resolve) => {
    figures.onKnown((contexts) => {
      told.push(contexts);
      resolve();
    });
  });
  expect(ids.map((id) => figures.of(id, 1_000))).toEqual([undefined, undefined, undefined]);
  await first;
  expect(told).toEqual([ids]);
  const known = figures.of(ids[0]!, 1_000);
  expect(known?.tokens?.output).toBeGreaterThan(50);
  const reads: { after?: number }[] = [];
  const watched: Store = Object.create(store, {
    read: {
      value: (ledger: string, range: { after?: number }) => {
        reads.push(range);
        return store.read(ledger, range);
      },
    },
  });
  const again = counting(watched);
  await store.append([{ ledger: ids[0]!, events: [reply("x/y", 1)] }]);
  await again.upToDate([{ id: ids[0]!, events: 1_001 }]);
  expect(reads).toEqual([expect.objectContaining({ after: 1_000, upTo: 1_001 })]);
  expect(figuresOf(again).of(ids[0]!, 1_001)?.tokens?.output).toBe(known!.tokens!.output + 1);
});

test.runIf(hasRedis())("contexts on a Redis server are counted as those in a file", async () => {
  const redis = await startRedis();
  const { store, root } = await openWorld();
  const remote = await openRedisStore(redis.url("counted"));
  onTestFinished(async () => {
    await remote.close();
    await redis.stop();
  });
  const found = [];
  for (const one of [store, remote]) {
    const id = await makeLongContext(one, { root, events: 700, from: 1_000 });
    found.push(await countsOf(one, id));
    const again = counting(one);
    await again.upToDate([{ id, events: 700 }]);
    expect(again.of(id)).toEqual(found.at(-1));
  }
  const [{ cache: _, begun: _begun, ...inFile }, { cache: __, begun: __begun, ...onServer }] = found as [
    ContextCounts,
    ContextCounts,
  ];
  expect(onServer).toEqual(inFile);
});
