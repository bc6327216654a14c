import fc from "fast-check";
import { expect, test } from "vitest";
import { joinReplies } from "../../src/loop/transcript.ts";

test("a continuation that goes on exactly is joined as it is, even where a letter is shared", () => {
  expect(joinReplies("hel", "lo world")).toBe("hello world");
});

test("what the continuation repeats of the end is left out", () => {
  expect(joinReplies("The first thing to do is to open the file", "is to open the file and read it.")).toBe(
    "The first thing to do is to open the file and read it.",
  );
});

test("a repeated line is left out even when it is short", () => {
  expect(joinReplies("a();\nb();", "b();\nc();")).toBe("a();\nb();\nc();");
});

test("a long text cut anywhere and continued from any earlier place of its end comes out whole", () => {
  const words = fc.array(fc.uuid(), { minLength: 2, maxLength: 20 }).map((list) => list.join(" "));
  fc.assert(
    fc.property(words, fc.nat(), fc.integer({ min: 12, max: 60 }), (text, at, back) => {
      const cut = Math.min(text.length, 60 + (at % text.length));
      expect(joinReplies(text.slice(0, cut), text.slice(Math.max(0, cut - back)))).toBe(text);
    }),
  );
});
