import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, fitted, padded } from "../../src/text/columns.ts";

test.each<[string, number]>([
  ["", 0],
  ["abc", 3],
  ["Grüße", 5],
  ["Gru\u0308ße", 5],
  ["日本語", 6],
  ["ﾊﾝｶｸ", 4],
  ["한국어", 6],
  ["ＡＢ", 4],
  ["✓ done · 3 items ≤ 5 ▶ …", 24],
  ["├─ │ └─", 7],
  ["👍", 2],
  ["👩‍👩‍👧‍👦", 2],
  ["🇩🇪", 2],
  ["a\u200bb", 2],
  ["soft\u00adhyphen", 10],
])("%j takes %i columns", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});

test("what is too wide is cut between characters and ends in a mark that has room", () => {
  const cases: [string, number, string][] = [
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["abc", 3, "abc"],
    ["abc", 2, "a…"],
    ["abc", 0, "…"],
    ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
  ];
  expect(cases.map(([text, columns]) => fitted(text, columns))).toEqual(cases.map(([, , cut]) => cut));
  expect([padded("日本", 6), padded("abcdef", 3)]).toEqual(["日本  ", "abcdef"]);
});

test("a text that fits stays as it is, any other is as wide as asked for or a column less", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 30 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 40 }), (given, columns) => {
      const cut = fitted(given, columns);
      expect(
        columnsOf(given) <= columns ? cut === given : columnsOf(cut) <= columns && columnsOf(cut) >= columns - 1,
      ).toBe(true);
    }),
  );
});
