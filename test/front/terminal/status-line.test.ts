// The last line: what waits and what is allowed first; on a narrow terminal the rest goes in order of its worth, and nothing is cut in half.
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/front/presentation/style.ts";
import { createStatusLine, type StatusNow } from "../../../src/front/terminal/status-line.ts";

const NOW: StatusNow = {
  model: "anthropic/claude-sonnet-5-5",
  mode: "acceptEdits",
  isSandboxed: false,
  context: "ctx_1m7kabcdefghijkl",
  spent: "12.1k tokens · $0.03",
  window: 0.04,
  outstanding: ["2 teammates"],
  waiting: 1,
  goal: "all tests pass",
};

const line = (columns: number, now: Partial<StatusNow> = {}) =>
  createStatusLine(() => ({ ...NOW, ...now }), PLAIN).render({ columns, rows: 1 }).lines[0];

test("what waits for a person and the mode come first, and are there to the last", () => {
  expect([200, 100, 60, 40, 12].map((columns) => line(columns))).toEqual([
    "1 question for you · acceptEdits · no sandbox · anthropic/claude-sonnet-5-5 · window 4 % · 12.1k tokens · $0.03 · 2 teammates · goal: all tests pass · ctx_1m7kabcdefghijkl",
    "1 question for you · acceptEdits · no sandbox · anthropic/claude-sonnet-5-5 · 2 teammates",
    "1 question for you · acceptEdits · no sandbox · 2 teammates",
    "1 question for you · acceptEdits",
    "1 question …",
  ]);
});

test("a window that is nearly full is worth more than the model", () => {
  expect(line(60, { waiting: 0, isSandboxed: true, window: 0.9, outstanding: [] })).toBe(
    "acceptEdits · anthropic/claude-sonnet-5-5 · window 90 %",
  );
  expect(line(30, { waiting: 0, isSandboxed: true, window: 0.9, outstanding: [] })).toBe("acceptEdits · window 90 %");
});
