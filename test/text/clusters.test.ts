import fc from "fast-check";
import { expect, test } from "vitest";
import { clusters, columnsOf, JOINS_THE_NEXT } from "../../src/text/columns.ts";

/** Every character that Unicode, as this Node knows it, joins to a letter behind it. */
function joining(): string[] {
  const segmenter = new Intl.Segmenter();
  const all: string[] = [];
  for (let code = 0x80; code < 0x110000; code++) {
    const sign = String.fromCodePoint(code);
    if (/[\p{Cn}\p{Co}\p{Cs}\p{Script=Han}\p{Script=Hangul}]/u.test(sign)) continue;
    if ([...segmenter.segment(`${sign}a`)].length === 1) all.push(sign);
  }
  return all;
}

test("every sign that Unicode joins to what follows is known, and stands alone", () => {
  const signs = joining();
  expect(signs.length).toBeGreaterThan(20);
  expect(signs.filter((sign) => !JOINS_THE_NEXT.test(sign))).toEqual([]);
  for (const sign of signs) expect([...clusters(`x${sign}${sign};`)]).toEqual(["x", sign, sign, ";"]);
});

test("characters of several code points stay whole, and an ASCII character is always the first of its own", () => {
  expect([...clusters("e\u0301👨‍👩‍👧🇩🇪1️⃣\u0d4ee\u0301")]).toEqual([
    ...["e\u0301", "👨‍👩‍👧", "🇩🇪", "1️⃣"],
    ...["\u0d4e", "e\u0301"],
  ]);
  expect([columnsOf("\u0d4e;\u0d4e日"), columnsOf("e\u0301")]).toEqual([5, 1]);
  const piece = fc.constantFrom("a", ";", "\u0301", "\u0d4e", "\u{1193f}", "\u200d", "👍", "日", "\u094d", "क");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      const all = [...clusters(text)];
      expect(all.join("")).toBe(text);
      expect(all.filter((one) => /[ -~]/.test(one.slice(1)))).toEqual([]);
    }),
  );
});
