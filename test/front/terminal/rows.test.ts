// Lines made to fit: nothing is wider than the terminal, nothing is lost, and no style goes where none was.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PLAIN, styleFor } from "../../../src/front/presentation/style.ts";
import { lineWidth } from "../../../src/front/terminal/cells.ts";
import { cutRow, paddedRow, rowsOf, tableRows, wordRows, wrappedLines } from "../../../src/front/terminal/rows.ts";

const COLOURED = styleFor({ isTTY: true }, {});
const bare = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, "");

const PIECES = ["a", "word ", "日本語。", "한국", "é", "👩‍👩‍👧", "\u0600", " ", "x".repeat(30)];
const words = fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }).map((all) => all.join(""));
const styled = fc
  .array(fc.tuple(words, fc.constantFrom("bold", "dim", "red", "italic", "underline", "struck", undefined)))
  .map((all) => all.map(([text, how]) => (how === undefined ? text : COLOURED[how](text))).join(""));

test("whatever the text and however narrow it is, no row is too wide, and every character stays but blanks at the ends", () => {
  fc.assert(
    fc.property(styled, fc.integer({ min: 9, max: 80 }), (line, columns) => {
      for (const rows of [rowsOf(line, columns, "┊ "), wordRows(line, columns, "┊ "), wrappedLines([line], columns)]) {
        for (const row of rows) expect(lineWidth(row)).toBeLessThanOrEqual(columns);
        const kept = bare(rows.join("")).replaceAll("┊ ", "").replace(/\s/g, "");
        expect(kept).toBe(bare(line).replace(/\s/g, ""));
      }
      expect(lineWidth(cutRow(line, columns))).toBeLessThanOrEqual(columns);
      expect(lineWidth(paddedRow(line, columns))).toBe(columns);
    }),
  );
});

test("each row closes its styles and opens them again in the next; without styles there is not one escape", () => {
  const line = (style: typeof PLAIN) => `say ${style.bold("these three words")} now`;
  expect(wordRows(line(COLOURED), 11)).toEqual([
    "say \u001b[1mthese\u001b[0m",
    "\u001b[1mthree words\u001b[22m",
    "now",
  ]);
  expect([wordRows(line(PLAIN), 11), cutRow(line(PLAIN), 9), cutRow("abc", 1), cutRow("abc", 0)]).toEqual([
    ["say these", "three words", "now"],
    "say thes…",
    "…",
    "",
  ]);
});

test("Japanese is broken between characters, and not before what closes a sentence", () => {
  expect(wordRows("ファイル notes.txt を書きました。", 16)).toEqual(["ファイル", "notes.txt を書き", "ました。"]);
  expect(wordRows("これで終わり。", 12)).toEqual(["これで終わ", "り。"]);
});

test("rows of a table go on below their second cell; where that is too far right, a little indented", () => {
  const lines = ["  /mode       what is allowed unasked: /mode acceptEdits", "✓ git  found"];
  expect(tableRows(lines, 40)).toEqual([
    "  /mode       what is allowed unasked:",
    "              /mode acceptEdits",
    "✓ git  found",
  ]);
  expect(tableRows(lines.slice(0, 1), 24)).toEqual([
    "  /mode       what is",
    "    allowed unasked:",
    "    /mode acceptEdits",
  ]);
});

test("a line that fits stays as it is, however far it is indented", () => {
  const line = `${" ".repeat(12)}return x;`;
  expect(wrappedLines([line], 40)).toEqual([line]);
});
