// What a stream of the Responses wire says, in whatever order and however it breaks.
import { afterEach, expect, test } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Fault, Script } from "../../src/testing/model-server-script.ts";
import { asking, failure, open, reply, user } from "./asking.ts";
import { called, id, sealed } from "./openai-responses.ts";

let server: ModelServer;
const start = async (script: Script) => {
  server = await startModelServer({ script });
  return open("openai-responses", server);
};
afterEach(() => server.close());

const event = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const whole = (output_index: number, item: object) => event("response.output_item.done", { output_index, item });
const added = (output_index: number, item: object) => event("response.output_item.added", { output_index, item });
const completed = event("response.completed", { response: { status: "completed", output: [] } });

test("parts keep the order in which the model gave them, however their events interleave", async () => {
  const call = (n: number, args = "") => ({ ...called(`call_${n}`, args), id: `fc_${n}` });
  const model = await start([
    {
      chunks: [
        event("response.created", { response: {} }),
        added(0, call(0)),
        added(1, { type: "message", content: [] }),
        event("response.output_text.delta", { output_index: 1, delta: "be" }),
        event("keepalive", { sequence_number: 5 }),
        event("response.function_call_arguments.delta", { output_index: 0, delta: '{"path"' }),
        event("response.output_text.delta", { output_index: 1, delta: "tween" }),
        event("response.function_call_arguments.delta", { output_index: 0, delta: ':"a"}' }),
        whole(1, { type: "message", content: [{ type: "output_text", text: "between" }] }),
        whole(0, call(0, '{"path":"a"}')),
        added(2, { type: "reasoning", id: "rs_1", summary: [] }),
        event("response.reasoning_summary_text.delta", { output_index: 2, summary_index: 0, delta: "one" }),
        event("response.reasoning_summary_text.delta", { output_index: 2, summary_index: 1, delta: "two" }),
        whole(2, sealed("rs_1", "gAAA", [{ text: "one" }, { text: "two" }])),
        whole(3, { type: "web_search_call", id: "ws_1" }),
        whole(4, call(1, '{"path":"b"}')),
        completed,
      ],
    },
  ]);
  const { answer, deltas } = await reply(model, asking([user("go")]));
  expect(answer.parts).toEqual([
    { type: "call", id: "call_0", name: "read_file", input: { path: "a" } },
    { type: "text", text: "between" },
    {
      type: "reasoning",
      text: "one\n\ntwo",
      signature: JSON.stringify(sealed("rs_1", "gAAA", [{ text: "one" }, { text: "two" }])),
    },
    { type: "call", id: "call_1", name: "read_file", input: { path: "b" } },
  ]);
  expect(deltas).toEqual([
    { type: "call", name: "read_file" },
    { type: "text", text: "be" },
    { type: "text", text: "tween" },
    { type: "reasoning", text: "one" },
    { type: "reasoning", text: "\n\n" },
    { type: "reasoning", text: "two" },
    { type: "call", name: "read_file" },
  ]);
});

test("an open model's thoughts go back in words, and items without a number or without deltas are understood", async () => {
  const thoughts = [{ type: "reasoning_text", text: "aloud" }];
  const done = (item: object) => event("response.output_item.done", { item });
  const model = await start([
    {
      chunks: [
        done({ type: "reasoning", id: "rs_1", summary: [], content: thoughts, status: null }),
        event("response.output_item.added", { item: { type: "message", content: [] } }),
        event("response.output_text.delta", { delta: "hel" }),
        done({ type: "message", content: [{ type: "output_text", text: "hello" }] }),
        done(called("call_a", '{"path":"a"}')),
        event("response.completed", { response: { usage: { input_tokens: 4, output_tokens: 2 } } }),
        "data: [DONE]\n\n",
      ],
    },
  ]);
  const { answer } = await reply(model, asking([user("go")]));
  const signature = JSON.stringify({ type: "reasoning", id: "rs_1", summary: [], content: thoughts });
  expect(answer).toEqual({
    model: id,
    parts: [
      { type: "reasoning", text: "aloud", signature },
      { type: "text", text: "hello" },
      { type: "call", id: "call_a", name: "read_file", input: { path: "a" } },
    ],
    finish: "calls",
    usage: { input: 4, output: 2, cacheRead: 0, cacheWrite: 0 },
  });
});

test("a refusal in words and a content filter are said as such", async () => {
  const refusal = { type: "message", content: [{ type: "refusal", refusal: "I will not." }] };
  const model = await start([
    {
      chunks: [
        added(0, { type: "message", content: [] }),
        event("response.refusal.delta", { output_index: 0, delta: "I will not." }),
        whole(0, refusal),
        completed,
      ],
    },
    { text: "some", finish: "refused" },
  ]);
  const words = await reply(model, asking([user("go")]));
  const other = { kind: "reply", model: "x", parts: [{ type: "text", text: "-" }] } as const;
  const filter = await reply(model, asking([user("go"), { ...other, parts: [...other.parts] }, user("on")]));
  expect([words.answer, filter.answer].map(({ parts, finish }) => ({ parts, finish }))).toEqual([
    { parts: [{ type: "text", text: "I will not." }], finish: "refused" },
    { parts: [{ type: "text", text: "some" }], finish: "refused" },
  ]);
  expect(words.deltas).toEqual([{ type: "text", text: "I will not." }]);
});

test.each<[string, Partial<Extract<Fault, { errorAt: number }>>, string]>([
  ["rate_limit_exceeded", { message: "Rate limit reached. Please try again in 2s." }, "rate_limit"],
  ["server_is_overloaded", {}, "overloaded"],
  ["slow_down", {}, "overloaded"],
  ["server_error", {}, "server"],
  ["context_length_exceeded", { message: "Your input exceeds the context window of this model." }, "overflow"],
  ["insufficient_quota", { message: "You exceeded your current quota" }, "auth"],
  ["invalid_prompt", { message: "Invalid prompt: flagged" }, "invalid"],
  ["image_parse_error", {}, "invalid"],
])("%s is told by its code, as an error and as a failed response", async (type, more, kind) => {
  const kinds = [];
  for (const ends of [false, true]) {
    const model = await start([{ text: "one", faults: [{ errorAt: 5, type, ...more, ends }] }]);
    kinds.push((await failure(model, asking([user("go")]))).kind);
    await server.close();
  }
  expect(kinds).toEqual([kind, kind]);
});

test.each<[string, number, object[]]>([
  ["hmm", 5, [{ type: "reasoning", text: "hmm" }]],
  [
    "hmmone t",
    11,
    [
      {
        type: "reasoning",
        text: "hmm",
        signature: JSON.stringify(sealed("rs_0", "gAAA", [{ type: "summary_text", text: "hmm" }])),
      },
      { type: "text", text: "one t" },
    ],
  ],
])(
  "an interrupt after %j keeps what had streamed, and only whole reasoning sealed",
  async (until, pauseAt, expected) => {
    const model = await start([
      { reasoning: { text: "hmm", signature: "gAAA" }, text: "one two three", faults: [{ pauseAt }] },
    ]);
    const abort = new AbortController();
    let heard = "";
    const call = model.reply(asking([user("go")]), {
      signal: abort.signal,
      onDelta: (delta) => {
        if ("text" in delta) heard += delta.text;
        if (heard === until) abort.abort();
      },
    });
    expect(await call.catch(({ kind, partial }) => ({ kind, partial }))).toEqual({
      kind: "aborted",
      partial: expected,
    });
  },
);
