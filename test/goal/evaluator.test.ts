// The form of a verdict: what counts, and that nothing else does.
import { expect, onTestFinished, test } from "vitest";
import { judgementIn } from "../../src/mechanisms/goal/evaluator.ts";
import type { Reply } from "../../src/models/model.ts";
import { openHouse } from "../house.ts";

const said = (text: string, more: Partial<Reply> = {}) =>
  judgementIn({ parts: [{ type: "text", text }], finish: "stop", ...more });

test.each([
  ["met", { verdict: "met", why: "" }],
  [" Met, because all 12 tests passed.\n", { verdict: "met", why: "all 12 tests passed." }],
  ["not yet, because two tests fail: a, b", { verdict: "not_yet", why: "two tests fail: a, b" }],
  ["IMPOSSIBLE, because テストがない", { verdict: "impossible", why: "テストがない" }],
])("%j counts", (text, verdict) => {
  expect(said(text)).toEqual(verdict);
});

test.each([
  "",
  "not met",
  "met!",
  "metallic",
  "The goal is met",
  "met because it is",
  "not yet",
  "impossible",
  "not yet, because ",
  "met\nnot yet, because it is not",
  "not yet, because a\nmet",
  "```\nmet\n```",
  '{"verdict":"met"}',
])("%j does not", (text) => {
  expect(said(text)).toBeUndefined();
});

test("a reply that was cut off, refused, or calls something does not count, whatever it says", () => {
  expect(said("met", { finish: "length" })).toBeUndefined();
  expect(said("met", { finish: "refused" })).toBeUndefined();
  const call = { type: "call", id: "c1", name: "bash", input: {} } as const;
  expect(said("met", { parts: [{ type: "text", text: "met" }, call] })).toBeUndefined();
});

test("a reason is bounded", () => {
  expect(said(`not yet, because ${"x".repeat(5_000)}`)?.why.length).toBe(1_000);
});

test("a script of the model server that is a list says what the evaluator says after a round", async () => {
  const house = await openHouse([
    { text: "I have begun.", verdict: "not yet, because the second part is missing" },
    { text: "I am done.", verdict: "met" },
  ]);
  onTestFinished(() => house.close());
  const run = await house.harness.run("go", { goal: "both parts are there" });
  const { text, goal } = await run.result;
  expect([text, goal?.verdict, goal?.judgements]).toEqual(["I am done.", "met", 2]);
});
