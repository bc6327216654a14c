import { afterEach, expect, test } from "vitest";
import type { Item } from "../../src/models/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { asking, open, readFile, reply, result, user } from "./asking.ts";

let server: ModelServer;
const start = async (script: Script) => {
  server = await startModelServer({ script });
  return open("openai", server);
};
afterEach(() => server.close());

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };

test("a streamed reply with reasoning, text and calls arrives whole and as deltas", async () => {
  const model = await start([
    {
      reasoning: "hmm",
      text: "日本語 and more",
      calls: [
        { name: "read_file", input: { path: "a" } },
        { name: "read_file", input: {} },
      ],
      usage: { input: 7, output: 3, cacheRead: 90 },
    },
  ]);
  const { answer, deltas } = await reply(model, asking([user("go")]));
  expect(answer).toEqual({
    model: "openai/test-model",
    parts: [
      { type: "reasoning", text: "hmm", provider: { field: "reasoning_content" } },
      { type: "text", text: "日本語 and more" },
      { type: "call", id: "call_0_0", name: "read_file", input: { path: "a" } },
      { type: "call", id: "call_0_1", name: "read_file", input: {} },
    ],
    finish: "calls",
    usage: { input: 7, output: 3, cacheRead: 90, cacheWrite: 0 },
  });
  expect(deltas).toEqual([
    { type: "reasoning", text: "hmm" },
    { type: "text", text: "日本語 " },
    { type: "text", text: "and " },
    { type: "text", text: "more" },
    { type: "call", name: "read_file" },
    { type: "call", name: "read_file" },
  ]);
});

test("the request carries the transcript in the least that the wire needs, and no reasoning", async () => {
  const model = await start((request) => ({ text: `round ${request.round}` }));
  const items: Item[] = [
    user("go"),
    {
      kind: "reply",
      model: model.id,
      parts: [
        { type: "reasoning", text: "hmm" },
        { type: "call", id: "c1", name: "read_file", input: { path: 'a"b' } },
        { type: "call", id: "c2", name: "read_file", input: {}, broken: "cut" },
      ],
    },
    result("c1", "one"),
    result("c2", "two", true),
    { kind: "reply", model: model.id, parts: [{ type: "reasoning", text: "only thought" }] },
    { kind: "reply", model: model.id, parts: [{ type: "text", text: "done" }] },
    user("more"),
  ];
  await reply(model, asking(items));
  expect(server.log().requests[0]?.body).toEqual({
    model: "test-model",
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 1000,
    tools: [
      {
        type: "function",
        function: { name: "read_file", description: readFile.description, parameters: readFile.input },
      },
    ],
    messages: [
      { role: "system", content: "You are an agent.\n\nWork in /tmp." },
      { role: "user", content: "go" },
      {
        role: "assistant",
        tool_calls: [
          { id: "c00000001", type: "function", function: { name: "read_file", arguments: '{"path":"a\\"b"}' } },
          { id: "c00000002", type: "function", function: { name: "read_file", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "c00000001", content: "one" },
      { role: "tool", tool_call_id: "c00000002", content: "two" },
      { role: "assistant", content: "done" },
      { role: "user", content: "more" },
    ],
  });
  expect(server.log().invalid).toEqual([]);
  expect(server.log().requests[0]?.headers).toMatchObject({
    authorization: "Bearer key",
    "content-type": "application/json",
  });
});

test("rounds that follow each other use one connection and send the earlier bytes again unchanged", async () => {
  const model = await start((request) => ({ calls: [{ name: "read_file", input: { n: request.round } }] }));
  const items: Item[] = [user("go")];
  const request = asking(items);
  for (let n = 1; n <= 5; n++) {
    const { answer } = await reply(model, { ...request, system: [...request.system] });
    items.push({ kind: "reply", model: model.id, parts: answer.parts }, result(`call_${n - 1}_0`, `é${n}`));
  }
  const { requests } = server.log();
  expect(new Set(requests.map((r) => r.clientPort)).size).toBe(1);
  const sent = requests.map((r) => JSON.stringify(r.body.messages).slice(0, -1));
  expect(sent.slice(1).map((body, i) => body.startsWith(sent[i]!))).toEqual([true, true, true, true]);
  expect(server.log().invalid).toEqual([]);
});

test("arguments that are not whole JSON make a broken call with an empty input", async () => {
  const model = await start([
    {
      calls: [
        { name: "read_file", raw: '{"path": nope}' },
        { name: "read_file", raw: "[1]" },
        { name: "read_file", raw: "" },
      ],
    },
  ]);
  const { answer } = await reply(model, asking([user("go")]));
  expect(answer.parts).toEqual([
    { type: "call", id: "call_0_0", name: "read_file", input: {}, broken: expect.stringContaining("not valid JSON") },
    { type: "call", id: "call_0_1", name: "read_file", input: {}, broken: "the arguments are not a JSON object" },
    { type: "call", id: "call_0_2", name: "read_file", input: {} },
  ]);
  expect(answer.finish).toBe("calls");
});

test("a call that the output limit cut is broken, and the reply says so", async () => {
  const model = await start([{ text: "so", calls: [{ name: "read_file", raw: '{"path":"a' }], finish: "length" }]);
  const { answer } = await reply(model, asking([user("go")]));
  expect(answer).toEqual({
    model: "openai/test-model",
    parts: [
      { type: "text", text: "so" },
      {
        type: "call",
        id: "call_0_0",
        name: "read_file",
        input: {},
        broken: "the reply reached its output limit in the middle of this call",
      },
    ],
    finish: "length",
    usage,
  });
});

test("a server that answers a streaming request with one JSON body is understood", async () => {
  const model = await start([{ text: "whole", calls: [{ name: "read_file", input: { path: "a" } }], whole: true }]);
  const { answer } = await reply(model, asking([user("go")]));
  expect(answer).toEqual({
    model: "openai/test-model",
    parts: [
      { type: "text", text: "whole" },
      { type: "call", id: "call_0_0", name: "read_file", input: { path: "a" } },
    ],
    finish: "calls",
    usage,
  });
});

const picture: Item = {
  kind: "result",
  callId: "c1",
  name: "read_file",
  content: [
    { type: "text", text: "a picture:" },
    { type: "image", mediaType: "image/png", data: "QUJD" },
  ],
  isError: false,
};
const asked: Item = {
  kind: "reply",
  model: "x",
  parts: [
    { type: "call", id: "c1", name: "read_file", input: {} },
    { type: "call", id: "c2", name: "read_file", input: {} },
  ],
};

test("images of results follow in a user message once all results are there", async () => {
  await start([{ text: "?" }, { text: "seen" }]);
  const limits = { contextTokens: 1000, outputTokens: 1000, images: true, documents: false };
  await reply(open("openai", server, { limits }), asking([user("go"), asked, picture, result("c2", "two")]));
  expect(server.log().requests[0]?.body.messages.slice(3)).toEqual([
    { role: "tool", tool_call_id: "c00000001", content: "a picture:\n[image: see below]" },
    { role: "tool", tool_call_id: "c00000002", content: "two" },
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } }] },
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("a model that takes no images reads a line instead", async () => {
  const model = await start([{ text: "?" }, { text: "seen" }]);
  await reply(model, asking([user("go"), asked, picture, result("c2", "two")]));
  expect(server.log().requests[0]?.body.messages.slice(3)).toEqual([
    {
      role: "tool",
      tool_call_id: "c00000001",
      content: "a picture:\n[image image/png, 1 kB: left out, this model does not take it]",
    },
    { role: "tool", tool_call_id: "c00000002", content: "two" },
  ]);
});
