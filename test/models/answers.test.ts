// Answers as servers behind the Chat Completions wire give them, beside OpenAI's own.
import { afterEach, expect, test } from "vitest";
import { createThinkSplitter } from "../../src/models/think-tags.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { type House, openHouse } from "../house.ts";
import { asking, open, reply, user } from "./asking.ts";

let server: ModelServer | undefined;
let house: House | undefined;
afterEach(async () => {
  await Promise.all([server?.close(), house?.close()]);
  server = house = undefined;
});

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

async function partsOf(deltas: object[], finish = "stop") {
  const chunks = [...deltas.map((delta) => chunk(delta)), chunk({}, finish), "data: [DONE]\n\n"];
  server = await startModelServer({ script: [{ chunks }] });
  const { answer, deltas: live } = await reply(open("openai", server), asking([user("go")]));
  return { parts: answer.parts, finish: answer.finish, live };
}

test("content in parts is text and reasoning, never [object Object]", async () => {
  const { parts } = await partsOf([
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "let me " }] }] },
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "see" }] }] },
    {
      content: [
        { type: "text", text: "Here " },
        { type: "reference", reference_ids: [1] },
      ],
    },
    { content: [{ type: "text", text: "it is" }] },
  ]);
  expect(parts).toEqual([
    { type: "reasoning", text: "let me see", provider: { field: "content" } },
    { type: "text", text: "Here it is" },
  ]);
});

test("the one call of older servers is taken, and a call that is announced and does not come is no answer", async () => {
  const old = await partsOf(
    [{ function_call: { name: "read_file", arguments: "" } }, { function_call: { arguments: '{"path":"a"}' } }],
    "function_call",
  );
  expect([old.parts, old.finish]).toEqual([
    [{ type: "call", id: "call_1", name: "read_file", input: { path: "a" } }],
    "calls",
  ]);
  for (const finish of ["function_call", "tool_calls"])
    await expect(partsOf([{ content: "Looking." }], finish)).rejects.toMatchObject({
      kind: "server",
      message: "openai/test-model: the answer announces a call and has none",
    });
});

test("a whole answer that is called a stream is read as what it is, also behind a byte order mark", async () => {
  const whole = JSON.stringify({ choices: [{ message: { content: "here" }, finish_reason: "stop" }] }, null, 1);
  for (const body of [whole, `\ufeff\n${whole}`]) {
    server = await startModelServer({ script: [{ chunks: [body] }] });
    const { answer } = await reply(open("openai", server), asking([user("go")]));
    expect(answer.parts).toEqual([{ type: "text", text: "here" }]);
    await server.close();
  }
});

test.each([
  [400, JSON.stringify({ error: { message: "Unrecognized request argument supplied: stream_options" } })],
  [422, JSON.stringify([{ loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" }])],
])("a server that refuses stream_options with %i is asked without, from then on", async (status, body) => {
  server = await startModelServer({ script: [{ text: "one", faults: [{ status, body }] }, { text: "two" }] });
  const model = open("openai", server);
  const first = await reply(model, asking([user("go")]));
  const replied = { kind: "reply" as const, model: model.id, parts: first.answer.parts };
  await reply(model, asking([user("go"), replied, user("more")]));
  const asked = server.log().requests.map((request) => [request.status, "stream_options" in request.body]);
  expect(asked).toEqual([
    [status, true],
    [200, false],
    [200, false],
  ]);
});

test("what a local model writes between <think> and </think> is reasoning", async () => {
  const { parts, live } = await partsOf([
    { content: "<thi" },
    { content: "nk>\nwell" },
    { content: "…</think>\n\nYes" },
  ]);
  expect(parts).toEqual([
    { type: "reasoning", text: "well…" },
    { type: "text", text: "Yes" },
  ]);
  expect(live).toEqual([
    { type: "reasoning", text: "well" },
    { type: "reasoning", text: "…" },
    { type: "text", text: "Yes" },
  ]);
});

test.each([
  ["a tag that is not at the beginning", "see <think> there", { reasoning: "", text: "see <think> there" }],
  ["only the beginning of a tag", "<thin", { reasoning: "", text: "<thin" }],
  ["another tag", "<thinker>x", { reasoning: "", text: "<thinker>x" }],
  ["a thought that is never closed", "<think>on and on </thi", { reasoning: "on and on </thi", text: "" }],
  ["blank lines around the answer", "\n<think>a</think>\n\n b\n", { reasoning: "a", text: "b\n" }],
  ["an empty thought", "<think>\n\n</think>\n\nyes", { reasoning: "", text: "yes" }],
])("%s, in pieces of every size", (_, whole, expected) => {
  for (let size = 1; size <= whole.length; size++) {
    const splitter = createThinkSplitter();
    const all = { reasoning: "", text: "" };
    const add = (split: { reasoning: string; text: string }) => {
      all.reasoning += split.reasoning;
      all.text += split.text;
    };
    for (let at = 0; at < whole.length; at += size) add(splitter.feed(whole.slice(at, at + size)));
    add(splitter.end());
    expect([size, all]).toEqual([size, expected]);
  }
});

test("calls without ids that are all numbered 0 stay two calls", async () => {
  const call = (name: string, args: object) => ({
    tool_calls: [{ index: 0, function: { name, arguments: JSON.stringify(args) } }],
  });
  const { parts } = await partsOf([call("read_file", { path: "a" }), call("glob", { pattern: "b" })], "tool_calls");
  expect(parts).toEqual([
    { type: "call", id: "call_1", name: "read_file", input: { path: "a" } },
    { type: "call", id: "call_2", name: "glob", input: { pattern: "b" } },
  ]);
});

test("a call that a filter cut off is not executed", async () => {
  const half = { tool_calls: [{ index: 0, id: "x", function: { name: "bash", arguments: '{"command":"rm' } }] };
  const { parts } = await partsOf([half], "content_filter");
  expect(parts).toEqual([
    {
      type: "call",
      id: "x",
      name: "bash",
      input: {},
      broken: "the reply reached its output limit in the middle of this call",
    },
  ]);
});

test.each(["openai", "anthropic"] as const)("a refusal over %s is no success, and says what to do", async (api) => {
  house = await openHouse([{ text: "I started", finish: "refused" }], { api });
  const { reason, error, text } = await (await house.harness.run("go")).result;
  const model = api === "openai" ? "openai-compatible/mock" : "anthropic/mock";
  expect([reason, text, error]).toEqual([
    "failed",
    "I started",
    `${model} will not answer this (the model refused, or a filter of its provider stopped it): say it in another way, or take another model with --model`,
  ]);
});
