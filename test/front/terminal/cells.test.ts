// What a line does to the cells of a terminal: on a headless one, and as bytes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutLine, lineChange, lineWidth } from "../../../src/front/terminal/cells.ts";
import { cutRow, rowsOf } from "../../../src/front/terminal/rows.ts";
import { openHeadless, part, SHELL_LINES } from "./headless.ts";

const SIGNS = ["\u0d4e", "\u{111c2}", "\u{1193f}", "\u{11a84}", "\u{11d46}", "\u{11f02}"];

test.each(SIGNS)("a sign that Unicode joins to the next character covers nothing: %s", async (sign) => {
  const line = `echo ${sign};touch canary1 ${sign}>evil.txt`;
  const h = await openHeadless({ columns: 60, rows: 10 });
  h.screen.show(part(() => ({ lines: [line] })));
  await h.settled();
  const shown = h.rows()[SHELL_LINES.length]!;
  h.screen.close();
  expect(shown).toMatch(/^echo .*;touch canary1 .*>evil\.txt$/);
  expect(lineWidth(line)).toBe("echo _;touch canary1 _>evil.txt".length);
});

test("rows are broken and cut by the columns that such a sign takes", () => {
  const line = "\u0d4e;\u0d4e>ab";
  expect(rowsOf(line, 3)).toEqual(["\u0d4e;\u0d4e", ">ab"]);
  expect([cutRow(line, 5), cutRow(line, 6)]).toEqual(["\u0d4e;\u0d4e>…", line]);
  expect(cutLine(`\u001b[31m${line}\u001b[39m`, 3)).toBe("\u001b[31m\u0d4e;\u0d4e\u001b[39m");
  expect([cutLine("日本語", 5), cutLine("日本語", 6)]).toEqual(["日本", "日本語"]);
});

test("a change in a run of marks is written from its letter on, and costs no more time for each of them", {
  timeout: 15_000,
}, () => {
  const marks = "\u0301".repeat(40_000);
  const change = lineChange(`az${marks}b`, `ay${marks}b`, 80);
  expect([change.column, change.bytes.length]).toEqual([1, 1 + marks.length]);
  expect(lineChange(`z${marks}b`, `z${marks}\u0301\u0301b`, 80).column).toBe(0);
});

const LETTERS = ["a", "b", "e", "e\u0301", "e\u0323\u0301", "日", "語", "─"];
const piece = fc.constantFrom(...LETTERS, "\u001b[31m", "\u001b[1m", "\u001b[39m");
const line = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

test("what is written instead of a line is whole: no half of a sequence, no mark without its letter", () => {
  fc.assert(
    fc.property(line, line, line, line, (start, before, after, end) => {
      const [was, is] = [`x${start}${before}${end}`, `x${start}${after}${end}`];
      const { bytes } = lineChange(was, is, 80);
      const text = bytes.replace(/\u001b\[(?:[\d;]*m|K)/g, "");
      expect(text).not.toMatch(/\u001b|^[\u0301\u0323]/);
      expect(is.replace(/\u001b\[\d*m/g, "")).toContain(text);
    }),
    { numRuns: 2000 },
  );
});
