import { afterEach, expect, test } from "vitest";
import type { Item, Limits } from "../../src/models/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { asking, open, readFile, reply, result, user } from "./asking.ts";
import { answered, called, id, output, said, sealed, usage } from "./openai-responses.ts";

let server: ModelServer;
const start = async (script: Script) => {
  server = await startModelServer({ script });
  return open("openai-responses", server);
};
afterEach(() => server.close());

test("a streamed reply with reasoning, text and calls arrives whole and as deltas, usage split by cache", async () => {
  const model = await start([
    {
      reasoning: { text: "hmm", signature: "gAAA" },
      text: "日本語 and more",
      calls: [
        { name: "read_file", input: { path: "a" } },
        { name: "read_file", input: {} },
      ],
      usage: { input: 7, output: 3, cacheRead: 90, cacheWrite: 11 },
    },
  ]);
  const { answer, deltas } = await reply(model, asking([user("go")]));
  const summary = [{ type: "summary_text", text: "hmm" }];
  expect(answer).toEqual({
    model: id,
    parts: [
      { type: "reasoning", text: "hmm", signature: JSON.stringify({ ...sealed("rs_0", "gAAA", summary) }) },
      { type: "text", text: "日本語 and more" },
      { type: "call", id: "call_0_0", name: "read_file", input: { path: "a" } },
      { type: "call", id: "call_0_1", name: "read_file", input: {} },
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

test("the request is stateless and carries the transcript in the least that the wire needs", async () => {
  const model = await start((request) => ({ text: `round ${request.round}` }));
  const items: Item[] = [
    user("go"),
    {
      kind: "reply",
      model: model.id,
      parts: [
        { type: "reasoning", text: "never sealed" },
        { type: "call", id: "c1", name: "read_file", input: { path: 'a"b' } },
        { type: "call", id: "c2", name: "read_file", input: {}, broken: "cut" },
      ],
    },
    result("c1", "one"),
    result("c2", "", true),
    { kind: "reply", model: model.id, parts: [{ type: "text", text: "done" }] },
    user("more"),
  ];
  await reply(model, asking(items));
  expect(server.log().requests[0]?.body).toEqual({
    model: "test-model",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 1000,
    tools: [
      {
        type: "function",
        name: "read_file",
        description: readFile.description,
        parameters: readFile.input,
        strict: false,
      },
    ],
    instructions: "You are an agent.\n\nWork in /tmp.",
    input: [
      said("go"),
      called("c1", '{"path":"a\\"b"}'),
      called("c2"),
      output("c1", "one"),
      output("c2", ""),
      answered("done"),
      said("more"),
    ],
  });
  expect(server.log().invalid).toEqual([]);
  expect(server.log().requests[0]?.headers).toMatchObject({ authorization: "Bearer key" });
});

test("reasoning and the phase of a message go back verbatim to the model that wrote them", async () => {
  const model = await start([
    {
      reasoning: { text: "first I look", signature: "gAAA" },
      text: "Looking.",
      phase: "commentary",
      calls: [{ name: "read_file", input: { path: "a" } }],
    },
    { reasoning: { text: "", signature: "gBBB" }, text: "done", phase: "final_answer" },
    { text: "end" },
  ]);
  const items: Item[] = [user("go")];
  const first = await reply(model, asking(items));
  items.push({ kind: "reply", model: model.id, parts: first.answer.parts }, result("call_0_0", "A"));
  const second = await reply(model, asking(items));
  items.push({ kind: "reply", model: model.id, parts: second.answer.parts }, user("more"));
  await reply(model, asking(items));
  expect(server.log().requests[2]?.body.input).toEqual([
    said("go"),
    sealed("rs_0", "gAAA", [{ type: "summary_text", text: "first I look" }]),
    { ...answered("Looking."), phase: "commentary" },
    called("call_0_0", '{"path":"a"}'),
    output("call_0_0", "A"),
    sealed("rs_1", "gBBB"),
    { ...answered("done"), phase: "final_answer" },
    said("more"),
  ]);
  await reply(open("openai-responses", server, { name: "other-model" }), asking(items));
  expect(server.log().requests[3]?.body.input).toEqual([
    said("go"),
    answered("Looking."),
    called("call_0_0", '{"path":"a"}'),
    output("call_0_0", "A"),
    answered("done"),
    said("more"),
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("reasoning that led to nothing is left out", async () => {
  const model = await start((request) => ({ text: `round ${request.round}` }));
  const thought = { type: "reasoning", text: "", signature: JSON.stringify(sealed("rs_9", "gAAA")) } as const;
  await reply(
    model,
    asking([
      user("go"),
      { kind: "reply", model: model.id, parts: [thought] },
      user("again"),
      { kind: "reply", model: model.id, parts: [thought, thought, { type: "text", text: "so" }, thought] },
      user("and"),
    ]),
  );
  const kept = sealed("rs_9", "gAAA");
  expect(server.log().requests[0]?.body.input).toEqual([
    said("go"),
    said("again"),
    kept,
    kept,
    answered("so"),
    said("and"),
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("reasoning that the provider cannot open any more is left out from then on, what comes later is not", async () => {
  const message = "The encrypted content gAAA could not be verified. Reason: it could not be decrypted or parsed.";
  const model = await start([
    { text: "?" },
    { reasoning: { text: "", signature: "gBBB" }, text: "fine", faults: [{ status: 400, message }] },
    { text: "end" },
  ]);
  const items: Item[] = [
    user("go"),
    {
      kind: "reply",
      model: model.id,
      parts: [
        { type: "reasoning", text: "", signature: JSON.stringify(sealed("rs_0", "gAAA")) },
        { type: "text", text: "so" },
      ],
    },
    user("and"),
  ];
  const { answer, deltas } = await reply(model, asking(items));
  expect(deltas[0]).toEqual({ type: "reset" });
  items.push({ kind: "reply", model: model.id, parts: answer.parts }, user("more"));
  await reply(model, asking(items));
  const thoughts = server
    .log()
    .requests.map((r) => r.body.input.filter((i: { type: string }) => i.type === "reasoning"));
  expect(thoughts).toEqual([[sealed("rs_0", "gAAA")], [], [sealed("rs_1", "gBBB")]]);
});

test("sealed reasoning is not asked of models that have none, nor again of one that said so", async () => {
  const message = "Encrypted content is not supported with this model.";
  await start([{ text: "hi", faults: [null, { status: 400, message }] }]);
  await reply(open("openai-responses", server, { name: "gpt-4.1-mini" }), asking([user("go")]));
  const unknown = open("openai-responses", server, { name: "deployment" });
  for (let i = 0; i < 2; i++) await reply(unknown, asking([user("go")]));
  const include = ["reasoning.encrypted_content"];
  expect(server.log().requests.map((r) => r.body.include)).toEqual([undefined, include, undefined, undefined]);
});

test("rounds that follow each other use one connection and send the earlier bytes again unchanged", async () => {
  const model = await start((request) => ({
    reasoning: { text: "", signature: `g${request.round}` },
    calls: [{ name: "read_file", input: { n: request.round } }],
  }));
  const items: Item[] = [user("go")];
  const request = asking(items);
  for (let n = 1; n <= 5; n++) {
    const { answer } = await reply(model, { ...request, system: [...request.system] });
    items.push({ kind: "reply", model: model.id, parts: answer.parts }, result(`call_${n - 1}_0`, `é${n}`));
  }
  const { requests } = server.log();
  expect(new Set(requests.map((r) => r.clientPort)).size).toBe(1);
  const sent = requests.map((r) => JSON.stringify(r.body).slice(0, -2));
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

test.each([false, true])(
  "a call that the output limit cut is broken, and the reply says so (whole: %s)",
  async (whole) => {
    const calls = [
      { name: "read_file", input: {} },
      { name: "read_file", raw: '{"path":"a' },
    ];
    const model = await start([{ text: "so", calls, finish: "length", whole }]);
    const { answer } = await reply(model, asking([user("go")]));
    const broken = "the reply reached its output limit in the middle of this call";
    expect(answer).toEqual({
      model: id,
      parts: [
        { type: "text", text: "so" },
        { type: "call", id: "call_0_0", name: "read_file", input: {} },
        { type: "call", id: "call_0_1", name: "read_file", input: {}, broken },
      ],
      finish: "length",
      usage,
    });
  },
);

test("a server that answers a streaming request with one JSON body is understood", async () => {
  const model = await start([
    {
      reasoning: { redacted: "gAAA" },
      text: "whole",
      calls: [{ name: "read_file", input: { path: "a" } }],
      whole: true,
    },
  ]);
  const { answer, deltas } = await reply(model, asking([user("go")]));
  expect(answer).toEqual({
    model: id,
    parts: [
      { type: "reasoning", text: "", signature: JSON.stringify(sealed("rs_0", "gAAA")) },
      { type: "text", text: "whole" },
      { type: "call", id: "call_0_0", name: "read_file", input: { path: "a" } },
    ],
    finish: "calls",
    usage,
  });
  expect(deltas).toEqual([
    { type: "text", text: "whole" },
    { type: "call", name: "read_file" },
  ]);
});

const limits: Limits = { contextTokens: 1000, outputTokens: 1000, images: true, documents: true };
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
const asked: Item = { kind: "reply", model: "x", parts: [{ type: "call", id: "c1", name: "read_file", input: {} }] };

test("images and documents are sent where the model takes them, those of a result inside it", async () => {
  await start([{ text: "?" }, { text: "seen" }]);
  const shown: Item = {
    kind: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image", mediaType: "image/png", data: "QUJD" },
      { type: "document", mediaType: "application/pdf", data: "QUJD", name: "a.pdf" },
    ],
  };
  await reply(open("openai-responses", server, { limits }), asking([shown, asked, picture]));
  const image = { type: "input_image", image_url: "data:image/png;base64,QUJD", detail: "auto" };
  const file = { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,QUJD" };
  expect(server.log().requests[0]?.body.input).toEqual([
    { type: "message", role: "user", content: [{ type: "input_text", text: "look" }, image, file] },
    called("c1"),
    output("c1", [{ type: "input_text", text: "a picture:" }, image]),
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("a model that takes no images reads a line instead", async () => {
  const model = await start([{ text: "?" }, { text: "seen" }]);
  await reply(model, asking([user("go"), asked, picture]));
  expect(server.log().requests[0]?.body.input[2]).toEqual(
    output("c1", "a picture:\n[image image/png, 1 kB: left out, this model does not take it]"),
  );
});

test("more fields of the request win over our own", async () => {
  await start([{ text: "hi" }]);
  const extra = { reasoning: { effort: "high", summary: "auto" }, include: [] };
  await reply(open("openai-responses", server, { extra }), asking([user("go")]));
  expect(server.log().requests[0]?.body).toMatchObject({ ...extra, store: false });
});
