import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lineDiff } from "../../src/file-access/line-diff.ts";

/** As the diff takes it: plain ends of lines, also of the last. */
const plain = (text: string): string => (text === "" ? "" : `${text.replaceAll("\r\n", "\n").replace(/\n$/, "")}\n`);

test("the diff of any two texts turns the one into the other, and is empty when only ends of lines differ", () => {
  const line = fc.constantFrom("a", "b", "c", "", "-x", "\\ no", "@@ -1,1 +1,1 @@", "__proto__", "0");
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
    .map(([lines, eol, last]) => lines.join(eol) + (last && lines.length > 0 ? eol : ""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = lineDiff("f", before, after);
      const patched = diff === "" ? plain(before) : applyPatch(plain(before), `${diff}\n`);
      expect(patched).toBe(plain(after));
    }),
  );
});

test("changes that lie close share their context, others have their own", () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);
  const changed = lines.map((line, i) => ([4, 11, 25].includes(i) ? line.toUpperCase() : line));
  expect(lineDiff("f", lines.join("\n"), changed.join("\r\n")).split("\n")).toEqual([
    ...["--- f", "+++ f", "@@ -2,14 +2,14 @@", " line 2", " line 3", " line 4", "-line 5", "+LINE 5"],
    ...[" line 6", " line 7", " line 8", " line 9", " line 10", " line 11", "-line 12", "+LINE 12"],
    ...[" line 13", " line 14", " line 15", "@@ -23,7 +23,7 @@", " line 23", " line 24", " line 25"],
    ...["-line 26", "+LINE 26", " line 27", " line 28", " line 29"],
  ]);
});

test("what differs too much to be aligned is one block between what both begin and end with", () => {
  const many = (letter: string) => Array.from({ length: 100_000 }, (_, i) => `${letter}${i}`);
  const around = (lines: string[]) => ["1", "2", "3", "4", ...lines, "5", "6", "7", "8"].join("\n");
  const diff = lineDiff("f", around(many("a")), around(many("b"))).split("\n");
  expect([diff.slice(0, 7), diff.slice(-4), diff.length]).toEqual([
    ["--- f", "+++ f", "@@ -2,100006 +2,100006 @@", " 2", " 3", " 4", "-a0"],
    ["+b99999", " 5", " 6", " 7"],
    200_009,
  ]);
});
