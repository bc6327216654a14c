import { afterEach, describe, expect, test } from "vitest";
import type { ModelCall } from "../../src/loop/seams.ts";
import { createRecovery, type RecoveryOptions } from "../../src/mechanisms/recovery/index.ts";
import type { Model, ModelError, ModelRequest, Reply } from "../../src/models/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Fault, Script } from "../../src/testing/model-server-script.ts";
import { asking, open, user, WIRES } from "../models/asking.ts";
import { NOT_ASKED } from "../turn.ts";
import { createFakeTurn, type FakeTurn } from "./fake-turn.ts";

let server: ModelServer;
afterEach(() => server?.close());

/** Waits are recorded instead of waited for; jitter is at its most. */
function recording(opts: RecoveryOptions = {}) {
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const mechanism = createRecovery({ ...opts, backoff: { random: () => 1, baseMs: 1000, sleep, ...opts.backoff } });
  return { mechanism, slept };
}

interface Outcome {
  reply?: Reply;
  error?: ModelError;
}

async function drive(
  mechanism: ReturnType<typeof createRecovery>,
  turn: FakeTurn,
  opts: { request?: ModelRequest; shrink?: () => Promise<ModelRequest | undefined> } = {},
): Promise<Outcome> {
  const call: ModelCall = {
    model: turn.model,
    request: opts.request ?? asking([user("go")]),
    turn,
    signal: turn.signal,
    shrink: opts.shrink ?? (async () => undefined),
  };
  const next = (c: ModelCall) =>
    c.model.reply(c.request, { signal: c.signal, onDelta: (delta) => turn.emit({ type: "delta", delta }) });
  return mechanism.seams!.model!(call, next).then(
    (reply) => ({ reply }),
    (error) => ({ error }),
  );
}

const script = (faults: (Fault | null)[]): Script => [{ text: "fine", faults }];
/** Whatever is asked: the requests of a conversation that is made smaller differ from each other. */
const byArrival =
  (faults: (Fault | null)[]): Script =>
  ({ arrival, attempt }) => ({ text: "fine", faults: [...Array(attempt - 1).fill(null), faults[arrival - 1] ?? null] });
const resets = (turn: FakeTurn) => turn.progress.filter((p) => p.type === "delta" && p.delta.type === "reset").length;

describe.each(WIRES)("over the %s wire", (wire) => {
  test.each<[string, Fault, object]>([
    ["429", { status: 429 }, { kind: "rate_limit", status: 429 }],
    ["500", { status: 500 }, { kind: "server", status: 500 }],
    ["529", { status: 529 }, { kind: "overloaded", status: 529 }],
    ["an overload inside the stream", { errorAt: 2, type: "overloaded_error" }, { kind: "overloaded" }],
    ["a cut stream", { cutAt: 2 }, { kind: "cut" }],
    ["a stream that ends without its end mark", { endAt: 2 }, { kind: "cut" }],
    ["a refused connection", { cutAt: 0 }, { kind: "network" }],
    ["a stalled stream", { stallAt: 2 }, { kind: "stalled" }],
  ])("%s is asked again, recorded, and what had streamed is taken back", async (_name, fault, expected) => {
    server = await startModelServer({ script: script([fault, fault]) });
    const { mechanism, slept } = recording();
    const turn = createFakeTurn(mechanism, open(wire, server, "stallAt" in fault ? { stallMs: 300 } : {}));
    const { reply } = await drive(mechanism, turn);
    expect(reply?.parts).toEqual([{ type: "text", text: "fine" }]);
    const message = expect.any(String);
    const model = `${wire}/test-model`;
    expect(turn.events).toEqual([
      { type: "model.retried", data: { ...expected, attempt: 1, delayMs: 1000, model, message } },
      { type: "model.retried", data: { ...expected, attempt: 2, delayMs: 2000, model, message } },
    ]);
    expect(slept).toEqual([1000, 2000]);
    expect(resets(turn)).toBe(2);
    expect(server.log().requests.map((r) => r.repeatOf)).toEqual([undefined, 1, 1]);
  });

  test.each<[string, Fault]>([
    ["401", { status: 401 }],
    ["403", { status: 403 }],
    ["400", { status: 400 }],
    ["404", { status: 404 }],
  ])("%s is not asked again", async (_name, fault) => {
    server = await startModelServer({ script: script([fault]) });
    const { mechanism } = recording();
    const turn = createFakeTurn(mechanism, open(wire, server));
    const { error } = await drive(mechanism, turn);
    expect({ status: error?.status, events: turn.events, asked: server.log().requests.length }).toEqual({
      status: "status" in fault ? fault.status : undefined,
      events: [],
      asked: 1,
    });
  });

  const tooLong: Fault = { status: 400, message: "prompt is too long: 3 tokens > 2 maximum" };

  test("a prompt that is too long is made smaller and asked again, as often as that makes it smaller; it is no failure of the model", async () => {
    const overloaded: Fault = { status: 529, type: "overloaded_error" };
    server = await startModelServer({ script: byArrival([tooLong, tooLong, tooLong, overloaded]) });
    const { mechanism } = recording({ maxAttempts: 2 });
    const turn = createFakeTurn(mechanism, open(wire, server));
    const sizes = [30, 20, 10];
    const shrink = async () => asking([user("x".repeat(sizes.shift()!))], { system: [] });
    const { reply } = await drive(mechanism, turn, { shrink });
    expect([reply?.parts, sizes]).toEqual([[{ type: "text", text: "fine" }], []]);
    expect(turn.events.map(({ data }) => data)).toMatchObject([
      { kind: "overflow", attempt: 1, delayMs: 0 },
      { kind: "overflow", attempt: 2, delayMs: 0 },
      { kind: "overflow", attempt: 3, delayMs: 0 },
      { attempt: 1 },
    ]);
    expect(JSON.stringify(server.log().requests[3]?.body)).toContain(`"${"x".repeat(10)}"`);
  });

  test("a prompt of which nothing can be left out, or that twice in a row becomes no smaller, ends with an error that says so", async () => {
    server = await startModelServer({ script: byArrival([tooLong, tooLong, tooLong, tooLong]) });
    const { mechanism } = recording();
    const model = open(wire, server);
    const asked = () => server.log().requests.length;
    const never = await drive(mechanism, createFakeTurn(mechanism, model));
    expect([never.error?.kind, never.error?.message, asked()]).toEqual([
      "overflow",
      `the conversation does not fit ${model.id} (how much it reads at once is not known), and nothing more can be left out: start a new context, or use a model with a larger window`,
      1,
    ]);
    const shrink = async () => asking([user("another, and longer than what was asked before")]);
    const futile = await drive(mechanism, createFakeTurn(mechanism, model), { shrink });
    expect([futile.error?.kind, futile.error?.message, asked()]).toEqual([
      "overflow",
      `the conversation does not fit ${model.id} (how much it reads at once is not known), and leaving things out does not make it smaller: start a new context, or use a model with a larger window`,
      4,
    ]);
  });

  test("a reply cut by max_tokens is asked again once with the model's own limit, and both are paid", async () => {
    server = await startModelServer({
      script: ({ body }) =>
        (body.max_tokens ?? body.max_output_tokens) <= 1000
          ? { text: "a long st", finish: "length" }
          : { text: "a long story" },
    });
    const { mechanism } = recording();
    const limits = { contextTokens: 100_000, outputTokens: 5000, images: false, documents: false };
    const turn = createFakeTurn(mechanism, open(wire, server, { limits }));
    const { reply } = await drive(mechanism, turn);
    expect(reply).toEqual({
      model: `${wire}/test-model`,
      parts: [{ type: "text", text: "a long story" }],
      finish: "stop",
      usage: { input: 20, output: 10, cacheRead: 0, cacheWrite: 0 },
    });
    expect(turn.events).toEqual([
      { type: "model.escalated", data: { model: `${wire}/test-model`, from: 1000, to: 5000 } },
    ]);
    expect(resets(turn)).toBe(1);
    await drive(mechanism, turn);
    expect(server.log().requests.map((r) => r.body.max_tokens ?? r.body.max_output_tokens)).toEqual([1000, 5000, 5000]);
  });

  test("a reply that is cut at the model's own limit is returned as it is", async () => {
    server = await startModelServer({ script: [{ text: "a long st", finish: "length" }] });
    const { mechanism } = recording();
    const limits = { contextTokens: 100_000, outputTokens: 1000, images: false, documents: false };
    const turn = createFakeTurn(mechanism, open(wire, server, { limits }));
    const { reply } = await drive(mechanism, turn);
    expect({ finish: reply?.finish, events: turn.events }).toEqual({ finish: "length", events: [] });
  });
});

const limited = { finish: "length", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, model: "m" } as const;
const cutText: Reply = { ...limited, parts: [{ type: "text", text: "and th" }] };

test("a cut-off reply is continued at most three times in a turn, over a resume too; then the turn fails", async () => {
  const { mechanism } = recording();
  const turn = createFakeTurn(mechanism, {} as Model);
  const { stop } = mechanism.seams!;
  for (let i = 0; i < 2; i++) {
    const [note] = await stop!(turn, cutText, NOT_ASKED);
    expect(note?.text).toContain("Continue exactly where you stopped");
    await turn.append(note!.events!);
  }
  const resumed = createFakeTurn(mechanism, {} as Model, turn.events);
  const [third] = await stop!(resumed, cutText, NOT_ASKED);
  await resumed.append(third!.events!);
  await expect(stop!(resumed, cutText, NOT_ASKED)).rejects.toMatchObject({
    kind: "length",
    message: expect.stringMatching(/^the answer of m reached its output limit 4 times and is not whole: /),
  });
  expect(resumed.events.at(-1)).toEqual({ type: "model.continued", data: { count: 3 } });
  resumed.happened("turn.started");
  expect((await stop!(resumed, cutText, NOT_ASKED)).length).toBe(1);
});

test("a whole reply, and a cut call that the loop answers, are not continued", async () => {
  const { mechanism } = recording();
  const turn = createFakeTurn(mechanism, {} as Model);
  const { stop } = mechanism.seams!;
  expect(await stop!(turn, { ...cutText, finish: "stop" }, NOT_ASKED)).toEqual([]);
  const call = { type: "call", id: "c1", name: "bash", input: {}, broken: "cut" } as const;
  expect(await stop!(turn, { ...limited, parts: [call] }, NOT_ASKED)).toEqual([]);
});

test("retry-after is honoured, and capped where a fallback waits", async () => {
  const faults = [{ status: 429, headers: { "retry-after": "90" } }];
  server = await startModelServer({ script: script(faults) });
  const alone = recording();
  await drive(alone.mechanism, createFakeTurn(alone.mechanism, open("openai", server)));
  server.reset();
  const backed = recording({ fallbacks: [async () => open("anthropic", server)] });
  await drive(backed.mechanism, createFakeTurn(backed.mechanism, open("openai", server)));
  expect({ alone: alone.slept, backed: backed.slept }).toEqual({ alone: [90_000], backed: [30_000] });
});

test("a wait of an hour is not waited for: the turn ends and says when to come back", async () => {
  server = await startModelServer({ script: script([{ status: 429, headers: { "retry-after": "3600" } }]) });
  const { mechanism, slept } = recording();
  const { error } = await drive(mechanism, createFakeTurn(mechanism, open("openai", server)));
  expect(error).toMatchObject({
    kind: "rate_limit",
    message: expect.stringContaining("takes requests again in 60 min"),
  });
  expect(slept).toEqual([]);
});

test("after eight attempts the call is given up with a clear error", async () => {
  server = await startModelServer({ script: script(Array(20).fill({ status: 500 })) });
  const { mechanism, slept } = recording();
  const { error } = await drive(mechanism, createFakeTurn(mechanism, open("openai", server)));
  expect(error).toMatchObject({
    kind: "server",
    status: 500,
    message:
      "gave up after 8 attempts: openai/test-model answered 500: api_error; try again later, or name another model with --fallback-model",
  });
  expect(slept).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]);
  expect(server.log().requests.length).toBe(8);
});

test("three overloads in a row lead to the fallback, which stays for the turn and over a resume", async () => {
  server = await startModelServer({
    script: ({ model, attempt }) =>
      model === "primary" && attempt <= 9 ? { faults: Array(9).fill({ status: 529 }) } : { text: model },
  });
  let opened = 0;
  const fallbacks = [
    async () => {
      opened++;
      return open("openai", server, { name: "second" });
    },
  ];
  const { mechanism } = recording({ fallbacks });
  const primary = open("anthropic", server, { name: "primary" });
  const turn = createFakeTurn(mechanism, primary);
  const first = await drive(mechanism, turn);
  expect(first.reply).toMatchObject({ model: "openai/second", parts: [{ type: "text", text: "second" }] });
  expect(turn.events.map((e) => e.type)).toEqual(["model.retried", "model.retried", "model.switched"]);
  expect(turn.events[2]?.data).toEqual({
    from: "anthropic/primary",
    to: "openai/second",
    reason: "anthropic/primary answered 529: overloaded_error",
    fallback: 1,
  });
  await drive(mechanism, turn);
  const resumed = createFakeTurn(mechanism, primary, turn.events);
  await drive(mechanism, resumed);
  expect(server.log().requests.map((r) => r.model)).toEqual([
    "primary",
    "primary",
    "primary",
    "second",
    "second",
    "second",
  ]);
  resumed.happened("turn.ended");
  await drive(mechanism, resumed);
  expect(server.log().requests[6]?.model).toBe("primary");
  expect(opened).toBe(1);
});

test("overloads between other failures do not count as in a row", async () => {
  const [busy, broken] = [{ status: 529 }, { status: 500 }];
  server = await startModelServer({ script: script([busy, busy, broken, busy, busy]) });
  const { mechanism } = recording({ fallbacks: [async () => open("anthropic", server)] });
  const turn = createFakeTurn(mechanism, open("openai", server));
  const { reply } = await drive(mechanism, turn);
  expect(reply?.model).toBe("openai/test-model");
  expect(turn.events.map((e) => e.type)).toEqual(Array(5).fill("model.retried"));
});

test("429 on the primary and on the fallback ends with an error that names both", async () => {
  server = await startModelServer({ script: script(Array(40).fill({ status: 429 })) });
  const { mechanism } = recording({ fallbacks: [async () => open("anthropic", server, { name: "second" })] });
  const turn = createFakeTurn(mechanism, open("openai", server, { name: "first" }));
  const { error } = await drive(mechanism, turn);
  expect(error).toMatchObject({
    kind: "rate_limit",
    message: expect.stringMatching(
      /^gave up after 11 attempts on openai\/first, anthropic\/second: .* try again later$/,
    ),
  });
  expect(server.log().requests.map((r) => r.model)).toEqual([...Array(3).fill("first"), ...Array(8).fill("second")]);
});

test("a fallback that cannot be opened is said and passed over", async () => {
  server = await startModelServer({ script: script(Array(3).fill({ status: 529 })) });
  const fallbacks = [
    () => Promise.reject(new Error("set THE_KEY")),
    async () => open("anthropic", server, { name: "third" }),
  ];
  const { mechanism } = recording({ fallbacks });
  const turn = createFakeTurn(mechanism, open("openai", server));
  const { reply } = await drive(mechanism, turn);
  expect(reply?.model).toBe("anthropic/third");
  expect(turn.progress).toContainEqual({ type: "status", text: "fallback 1 cannot be used: set THE_KEY" });
});

test("an interrupt during a wait ends at once, and during the stream is never asked again", async () => {
  server = await startModelServer({ script: script([{ status: 500 }]) });
  const waiting = createRecovery({ backoff: { random: () => 1, baseMs: 600_000, capMs: 600_000 } });
  const turn = createFakeTurn(waiting, open("openai", server));
  const outcome = drive(waiting, turn);
  while (turn.events.length === 0) await new Promise((done) => setTimeout(done, 5));
  turn.abort();
  expect((await outcome).error).toMatchObject({ kind: "aborted" });
  expect(server.log().requests.length).toBe(1);

  server.setScript(script([{ pauseAt: 2 }]));
  server.reset();
  const { mechanism } = recording();
  const other = createFakeTurn(mechanism, open("openai", server));
  const streaming = drive(mechanism, other);
  await server.paused();
  other.abort();
  expect((await streaming).error).toMatchObject({ kind: "aborted" });
  expect({ events: other.events, asked: server.log().requests.length }).toEqual({ events: [], asked: 1 });
});

test("what is not a model's error is passed on", async () => {
  const { mechanism } = recording();
  const broken = { id: "x/y", limits: {}, reply: () => Promise.reject(new TypeError("a bug")) } as unknown as Model;
  const { error } = await drive(mechanism, createFakeTurn(mechanism, broken));
  expect(error).toEqual(new TypeError("a bug"));
});
