// On every wire: what was sent is sent again as it was, with more behind it.
import { expect, test } from "vitest";
import { createAnthropicBody } from "../../src/models/anthropic.ts";
import { limitsOf } from "../../src/models/catalogue.ts";
import type { Body } from "../../src/models/growing-bytes.ts";
import type { Content, Item, ModelRequest } from "../../src/models/model.ts";
import { createOpenAIBody } from "../../src/models/openai.ts";
import { createOpenAIResponsesBody } from "../../src/models/openai-responses.ts";

const model = { id: "some/mock", name: "mock", limits: { ...limitsOf("some/mock"), images: true } };
const chat = createOpenAIBody(model);
/** And what ends a conversation there: more may come before it. */
const WIRES: [string, (request: ModelRequest) => Body, end: string][] = [
  ["Anthropic", createAnthropicBody(model), "]}]"],
  ["Chat Completions", (request) => chat(request, { limitField: "max_tokens", asksUsage: true }), "]"],
  ["Responses", createOpenAIResponsesBody({ ...model, sealed: true, unreadable: new WeakSet() }), "]"],
];

/** The conversation of a request as text, without the cache marks, which move. */
function conversation({ head, middle, tail }: Body): string {
  const { messages, input } = JSON.parse(`${head}${middle}${tail}`);
  return JSON.stringify(messages ?? input).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}

const text = (text: string): Content[] => [{ type: "text", text }];
const said = (words: string): Item => ({ kind: "user", content: text(words) });
const note = (words: string, withResults: boolean): Item => ({
  ...{ kind: "user", content: text(words), note: true },
  ...(withResults && { withResults }),
});
const result = (callId: string, isPicture: boolean): Item => ({
  ...{ kind: "result", callId, name: "look", isError: false },
  content: isPicture ? [{ type: "image", mediaType: "image/png", data: callId }] : text(`result of ${callId}`),
});
const reply = (ids: string[]): Item => ({
  ...{ kind: "reply", model: model.id },
  parts:
    ids.length === 0
      ? [{ type: "text", text: "hm" }]
      : [
          { type: "reasoning", text: "so", signature: '{"type":"reasoning","id":"rs"}' },
          ...ids.map((id) => ({ type: "call" as const, id, name: "look", input: {} })),
        ],
});

/** Numbers from 0 up to `below`, the same ones for one seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

/** Contract: told of the items each time that a request shows them. */
function converse(seed: number, asked: (items: readonly Item[]) => void): void {
  const pick = random(seed);
  const items: Item[] = [said("begin")];
  let calls = 0;
  let isUnsent = false;
  for (let step = 0; step < 12; step++) {
    // As the loop says it: a note belongs to results as long as no request has shown them.
    for (let n = pick(3); n > 0; n--)
      items.push(pick(3) === 0 ? said(`words ${step}`) : note(`note ${step}`, isUnsent));
    asked(items);
    isUnsent = false;
    if (pick(4) === 0) continue; // no reply came, or an empty one
    const ids = Array.from({ length: pick(3) }, () => `c${++calls}`);
    items.push(reply(ids), ...ids.map((id) => result(id, pick(4) === 0)));
    isUnsent = ids.length > 0;
    if (ids.length === 0) items.push(said(`next ${step}`));
  }
}

test.each(WIRES)(
  "%s: 200 random conversations, with notes, pictures, and requests that got no reply",
  (_, write, end) => {
    for (let seed = 1; seed <= 200; seed++) {
      let before = "";
      converse(seed, (items) => {
        const now = conversation(write({ system: ["Be brief."], tools: [], items: [...items], maxOutputTokens: 100 }));
        expect([seed, now.startsWith(before)]).toEqual([seed, true]);
        before = now.slice(0, -end.length);
      });
    }
  },
);
