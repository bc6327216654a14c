import { afterEach, expect, test } from "vitest";
import type { Item } from "../../src/models/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { asking, open, readFile, reply, result, user } from "./asking.ts";

let server: ModelServer;
const start = async (script: Script) => {
  server = await startModelServer({ script });
  return open("anthropic", server);
};
afterEach(() => server.close());

const cache_control = { type: "ephemeral" };
const text = (value: string) => ({ type: "text", text: value });

test("a streamed reply with thinking, text and calls arrives whole and as deltas, usage split by cache", async () => {
  const model = await start([
    {
      reasoning: { text: "hmm", signature: "sig" },
      text: "日本語 and more",
      calls: [
        { name: "read_file", input: { path: "a" } },
        { name: "read_file", raw: "" },
      ],
      usage: { input: 7, output: 3, cacheRead: 90, cacheWrite: 11 },
    },
  ]);
  const { answer, deltas } = await reply(model, asking([user("go")]));
  expect(answer).toEqual({
    model: "anthropic/test-model",
    parts: [
      { type: "reasoning", text: "hmm", signature: "sig" },
      { type: "text", text: "日本語 and more" },
      { type: "call", id: "toolu_0_0", name: "read_file", input: { path: "a" } },
      { type: "call", id: "toolu_0_1", name: "read_file", input: {} },
    ],
    finish: "calls",
    usage: { input: 7, output: 3, cacheRead: 90, cacheWrite: 11 },
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

test("the request marks system, tools and the last two user messages for the cache", async () => {
  const model = await start((request) => ({ text: `round ${request.round}` }));
  const call = (id: string): Item => ({
    kind: "reply",
    model: model.id,
    parts: [{ type: "call", id, name: "read_file", input: { path: id } }],
  });
  await reply(
    model,
    asking([user("go"), call("c1"), result("c1", "one"), call("c2"), result("c2", "", true), user("and")]),
  );
  const body = server.log().requests[0]?.body;
  expect(body).toEqual({
    model: "test-model",
    stream: true,
    max_tokens: 1000,
    tools: [{ name: "read_file", description: readFile.description, input_schema: readFile.input, cache_control }],
    system: [text("You are an agent."), { ...text("Work in /tmp."), cache_control }],
    messages: [
      { role: "user", content: [text("go")] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "read_file", input: { path: "c1" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "one", cache_control }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c2", name: "read_file", input: { path: "c2" } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c2", is_error: true },
          { ...text("and"), cache_control },
        ],
      },
    ],
  });
  expect(server.log().invalid).toEqual([]);
  expect(server.log().requests[0]?.headers).toMatchObject({ "x-api-key": "key", "anthropic-version": "2023-06-01" });
});

test("thinking goes back verbatim to the model that signed it", async () => {
  const model = await start([
    { reasoning: { text: "", signature: "sig1" }, calls: [{ name: "read_file", input: { path: "a" } }] },
    { reasoning: { redacted: "secret" }, text: "done" },
    { text: "end" },
  ]);
  const items: Item[] = [user("go")];
  const first = await reply(model, asking(items));
  items.push({ kind: "reply", model: model.id, parts: first.answer.parts }, result("toolu_0_0", "A"));
  const second = await reply(model, asking(items));
  items.push({ kind: "reply", model: model.id, parts: second.answer.parts }, user("more"));
  await reply(model, asking(items));
  expect(second.answer.parts).toEqual([
    { type: "reasoning", text: "", redacted: "secret" },
    { type: "text", text: "done" },
  ]);
  const { messages } = server.log().requests[2]!.body;
  expect(messages.filter((m: { role: string }) => m.role === "assistant")).toEqual([
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "sig1" },
        { type: "tool_use", id: "toolu_0_0", name: "read_file", input: { path: "a" } },
      ],
    },
    { role: "assistant", content: [{ type: "redacted_thinking", data: "secret" }, text("done")] },
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("another model's thinking is left out, and a message that becomes empty by it is skipped", async () => {
  const model = await start((request) => ({ text: `round ${request.round}` }));
  const foreign = { type: "reasoning", text: "theirs", signature: "foreign" } as const;
  await reply(
    model,
    asking([
      user("go"),
      { kind: "reply", model: "anthropic/other", parts: [foreign] },
      user("again"),
      { kind: "reply", model: "openai/other", parts: [foreign, { type: "text", text: "said" }] },
      { kind: "user", content: [{ type: "text", text: "" }] },
    ]),
  );
  expect(server.log().requests[0]?.body.messages).toEqual([
    { role: "user", content: [text("go"), { ...text("again"), cache_control }] },
    { role: "assistant", content: [text("said")] },
    { role: "user", content: [{ ...text("(empty)"), cache_control }] },
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("results come before what was said beside them, in one message", async () => {
  const model = await start((request) => ({ text: `round ${request.round}` }));
  await reply(
    model,
    asking([
      user("go"),
      {
        kind: "reply",
        model: model.id,
        parts: [
          { type: "call", id: "c1", name: "read_file", input: {} },
          { type: "call", id: "c2", name: "read_file", input: {} },
        ],
      },
      result("c1", "one"),
      user("wait"),
      result("c2", "two"),
    ]),
  );
  expect(server.log().requests[0]?.body.messages[2]).toEqual({
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "c1", content: "one" },
      { type: "tool_result", tool_use_id: "c2", content: "two" },
      { ...text("wait"), cache_control },
    ],
  });
});

test("images and documents are sent where the model takes them", async () => {
  await start([{ text: "seen" }]);
  const limits = { contextTokens: 1000, outputTokens: 1000, images: true, documents: true };
  await reply(
    open("anthropic", server, { limits }),
    asking([
      {
        kind: "user",
        content: [
          { type: "image", mediaType: "image/png", data: "QUJD" },
          { type: "document", mediaType: "application/pdf", data: "QUJD", name: "a.pdf" },
          { type: "document", mediaType: "text/csv", data: "QUJD", name: "a.csv" },
          { type: "document", mediaType: "application/zip", data: "QUJD", name: "a.zip" },
        ],
      },
    ]),
  );
  expect(server.log().requests[0]?.body.messages[0].content).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } },
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: "QUJD" }, title: "a.pdf" },
    { type: "document", source: { type: "text", media_type: "text/plain", data: "ABC" }, title: "a.csv" },
    { ...text("[document a.zip, 1 kB: left out, this model does not take it]"), cache_control },
  ]);
});

test("a call that the output limit cut is broken, and the reply says so", async () => {
  const model = await start([{ calls: [{ name: "read_file", raw: '{"path":"a' }], finish: "length" }]);
  const { answer } = await reply(model, asking([user("go")]));
  expect(answer.finish).toBe("length");
  expect(answer.parts).toEqual([
    {
      type: "call",
      id: "toolu_0_0",
      name: "read_file",
      input: {},
      broken: "the reply reached its output limit in the middle of this call",
    },
  ]);
});

test("a refusal is said as such, and a whole JSON answer is understood", async () => {
  const model = await start([{ text: "no", finish: "refused", reasoning: { text: "t", signature: "s" }, whole: true }]);
  const { answer } = await reply(model, asking([user("go")]));
  expect(answer).toEqual({
    model: "anthropic/test-model",
    parts: [
      { type: "reasoning", text: "t", signature: "s" },
      { type: "text", text: "no" },
    ],
    finish: "refused",
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
  });
});
