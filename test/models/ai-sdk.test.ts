import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, expect, test } from "vitest";
import { adaptLanguageModel } from "../../src/models/ai-sdk.ts";
import type { Item } from "../../src/models/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Fault, Script } from "../../src/testing/model-server-script.ts";
import { asking, failure, reply, result, user } from "./asking.ts";

let server: ModelServer;
afterEach(() => server.close());

async function start(script: Script, stallMs?: number) {
  server = await startModelServer({ script });
  const provider = createOpenAICompatible({
    name: "sdk",
    baseURL: server.openaiUrl,
    apiKey: "key",
    includeUsage: true,
  });
  const limits = { contextTokens: 100_000, outputTokens: 4000, images: false, documents: false };
  return adaptLanguageModel(provider("test-model"), { id: "sdk/test-model", limits, stallMs });
}

test("a round trip with reasoning, text and calls goes through an AI SDK provider", async () => {
  const model = await start([
    {
      reasoning: "hmm",
      text: "let me look",
      calls: [{ name: "read_file", input: { path: "a" } }],
      usage: { input: 7, output: 3, cacheRead: 90 },
    },
    { text: "done" },
  ]);
  const items: Item[] = [user("go")];
  const { answer, deltas } = await reply(model, asking(items));
  expect(answer).toEqual({
    model: "sdk/test-model",
    parts: [
      { type: "reasoning", text: "hmm" },
      { type: "text", text: "let me look" },
      { type: "call", id: "call_0_0", name: "read_file", input: { path: "a" } },
    ],
    finish: "calls",
    usage: { input: 7, output: 3, cacheRead: 90, cacheWrite: 0 },
  });
  expect(deltas).toEqual([
    { type: "reasoning", text: "hmm" },
    { type: "text", text: "let " },
    { type: "text", text: "me l" },
    { type: "text", text: "ook" },
    { type: "call", name: "read_file" },
  ]);
  items.push({ kind: "reply", model: model.id, parts: answer.parts }, result("call_0_0", "A"));
  expect((await reply(model, asking(items))).answer.parts).toEqual([{ type: "text", text: "done" }]);
  expect(server.log().invalid).toEqual([]);
  expect(server.log().requests[1]?.body).toMatchObject({ model: "test-model", max_tokens: 1000, stream: true });
});

test.each<[string, Fault, object]>([
  ["429", { status: 429, headers: { "retry-after": "7" } }, { kind: "rate_limit", status: 429, retryAfterMs: 7000 }],
  ["529", { status: 529 }, { kind: "overloaded", status: 529 }],
  ["500", { status: 500 }, { kind: "server", status: 500 }],
  ["401", { status: 401 }, { kind: "auth", status: 401 }],
  [
    "overflow",
    { status: 400, message: "This model's maximum context length is 9 tokens" },
    { kind: "overflow", status: 400 },
  ],
  ["an error inside the stream", { errorAt: 3, type: "overloaded_error" }, { kind: "overloaded" }],
  ["a stream without its end", { endAt: 3 }, { kind: "cut" }],
  ["a destroyed connection", { cutAt: 3 }, { kind: "cut" }],
  ["a stall", { stallAt: 2 }, { kind: "stalled" }],
])("%s is told by its kind", async (_name, fault, expected) => {
  const model = await start([{ text: "one two three", faults: [fault] }], "stallAt" in fault ? 80 : undefined);
  expect(await failure(model, asking([user("go")]))).toMatchObject(expected);
});

test("an abort mid-stream ends at once with what had streamed", async () => {
  const model = await start([{ text: "one two three", faults: [{ pauseAt: 3 }] }]);
  const abort = new AbortController();
  let heard = "";
  const call = model.reply(asking([user("go")]), {
    signal: abort.signal,
    onDelta: (delta) => {
      if (delta.type === "text") heard += delta.text;
      if (heard === "one two th") abort.abort();
    },
  });
  expect(await call.catch((e) => e)).toMatchObject({
    kind: "aborted",
    partial: [{ type: "text", text: "one two th" }],
  });
});
