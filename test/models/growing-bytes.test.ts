import fc from "fast-check";
import { expect, test } from "vitest";
import { createAnthropicBody } from "../../src/models/anthropic.ts";
import type { Body } from "../../src/models/growing-bytes.ts";
import type { Item, ModelRequest } from "../../src/models/model.ts";
import { createOpenAIBody } from "../../src/models/openai.ts";
import { createOpenAIResponsesBody } from "../../src/models/openai-responses.ts";
import { asking, result, user } from "./asking.ts";

const limits = { contextTokens: 1000, outputTokens: 1000, images: true, documents: true };
const image: Item = {
  kind: "result",
  callId: "c1",
  name: "read_file",
  content: [{ type: "image", mediaType: "image/png", data: "QUJD" }],
  isError: false,
};
const pool: Item[] = [
  user("first 日本"),
  { kind: "reply", model: "anthropic/m", parts: [{ type: "call", id: "c1", name: "read_file", input: { path: "ü" } }] },
  { kind: "reply", model: "other", parts: [{ type: "reasoning", text: "hidden", signature: "s" }] },
  {
    kind: "reply",
    model: "anthropic/m",
    parts: [
      { type: "reasoning", text: "hm", signature: '{"type":"reasoning","id":"rs_1"}' },
      { type: "text", text: "said" },
    ],
  },
  result("c1", "x".repeat(30_000)),
  image,
  user("more"),
];

const wires: Record<string, () => (request: ModelRequest) => Body> = {
  openai: () => {
    const body = createOpenAIBody({ id: "m", name: "m", limits });
    return (request) => body(request, { limitField: "max_tokens", asksUsage: true });
  },
  anthropic: () => createAnthropicBody({ id: "anthropic/m", name: "m", limits }),
  "openai-responses": () =>
    createOpenAIResponsesBody({ id: "anthropic/m", name: "m", limits, sealed: true, unreadable: new WeakSet() }),
};

const textOf = (body: Body) => body.head + body.middle.toString("utf8") + body.tail;

test.each(Object.keys(wires))("what %s remembers of earlier requests never shows in a later one", (wire) => {
  const step = fc.record({
    keep: fc.nat(12),
    add: fc.array(fc.integer({ min: 0, max: pool.length - 1 }), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), (steps, withSystem) => {
      const remembering = wires[wire]!();
      let items: Item[] = [pool[0]!];
      const sent: { body: Body; text: string }[] = [];
      for (const { keep, add } of steps) {
        items = [pool[0]!, ...items.slice(1, keep), ...add.map((i) => pool[i]!)];
        const request = asking(items, withSystem ? {} : { system: [] });
        const body = remembering(request);
        const text = textOf(body);
        expect(text).toBe(textOf(wires[wire]!()(request)));
        JSON.parse(text);
        sent.push({ body, text });
      }
      // Bodies that were handed out stay as they were, for requests that are still on their way.
      for (const { body, text } of sent) expect(textOf(body)).toBe(text);
    }),
  );
});
