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

/** Numbers from 0 up to `below`, the same ones for one seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

test("whatever comes later, what was sent is sent again as it was: 200 random conversations, each asked anywhere, with failures between", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const pick = random(seed);
    const items: Item[] = [said("begin")];
    let before = "";
    let calls = 0;
    let isUnsent = false;
    for (let step = 0; step < 12; step++) {
      // As the loop says it: a note belongs to results as long as no request has shown them.
      for (let n = pick(3); n > 0; n--)
        items.push(pick(3) === 0 ? said(`words ${step}`) : note(`note ${step}`, isUnsent));
      const now = messages(items);
      expect([seed, now.startsWith(before)]).toEqual([seed, true]);
      before = now.slice(0, -"]}]".length); // the last message may get more blocks behind it
      isUnsent = false;
      if (pick(4) === 0) continue; // no reply came, or an empty one
      const ids = Array.from({ length: pick(3) }, () => `c${++calls}`);
      items.push(
        ids.length > 0 ? reply(...ids) : { kind: "reply", model: "x/y", parts: [{ type: "text", text: "hm" }] },
      );
      items.push(...ids.map((id) => result(id, `result ${id}`)));
      isUnsent = ids.length > 0;
      if (ids.length === 0) items.push(said(`next ${step}`));
    }
  }
});
