import { expect, test } from "vitest";
import { createAnthropicBody } from "../../src/models/anthropic.ts";
import { limitsOf } from "../../src/models/catalogue.ts";
import type { Item } from "../../src/models/model.ts";

const write = createAnthropicBody({ id: "anthropic/mock", name: "mock", limits: limitsOf("anthropic/mock") });

/** The messages of a request as text, without the cache marks, which move. */
function messages(items: readonly Item[]): string {
  const { head, middle, tail } = write({ system: [], tools: [], items, maxOutputTokens: 100 });
  const text = JSON.stringify(JSON.parse(`${head}${middle}${tail}`).messages);
  return text.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}

const said = (text: string): Item => ({ kind: "user", content: [{ type: "text", text }] });
const note = (text: string, withResults: boolean): Item => ({
  kind: "user",
  content: [{ type: "text", text }],
  note: true,
  ...(withResults && { withResults }),
});
const result = (callId: string, text: string): Item => ({
  ...{ kind: "result", callId, name: "look", isError: false },
  content: [{ type: "text", text }],
});
const reply = (...ids: string[]): Item => ({
  kind: "reply",
  model: "anthropic/mock",
  parts: ids.map((id) => ({ type: "call", id, name: "look", input: {} })),
});

test("a note behind results stands inside the last of them; behind a person's words, or where the results went out without it, it stands alone", () => {
  const asked = [said("go"), reply("c1", "c2"), result("c1", "one"), result("c2", "two")];
  const last = (...more: Item[]) => JSON.parse(messages([...asked, ...more])).at(-1).content;
  const one = { type: "tool_result", tool_use_id: "c1", content: "one" };
  const two = (...notes: string[]) => ({
    ...{ type: "tool_result", tool_use_id: "c2" },
    content: ["two", ...notes].map((text) => ({ type: "text", text })),
  });
  expect(last(note("a", true), note("b", true))).toEqual([one, two("a", "b")]);
  expect(last(note("a", true), said("stop"), note("b", true))).toEqual([
    ...[one, two("a")],
    ...[
      { type: "text", text: "stop" },
      { type: "text", text: "b" },
    ],
  ]);
  const alone = [one, { type: "tool_result", tool_use_id: "c2", content: "two" }, { type: "text", text: "late" }];
  expect(last(note("late", false))).toEqual(alone);
});
