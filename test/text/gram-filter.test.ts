import fc from "fast-check";
import { expect, test } from "vitest";
import { gramFilter, mayHave } from "../../src/text/gram-filter.ts";

/** Letters whose case is odd: a final sigma, a long s, a dotless i, full width, and what has none. */
const letter = fc.constantFrom(..."aAbBsSiIkK ſςσΣıİßẞéÉｔＴ東京天気が。\n7[".split(""));
const text = fc.array(letter, { maxLength: 300 }).map((letters) => letters.join(""));

test("it never says no of words that the text has, in whatever case", () => {
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(letter, { minLength: 1, maxLength: 12 }),
      fc.nat(3),
      (before, behind, words, how) => {
        const asked = words.join("");
        const had = [asked, asked.toUpperCase(), asked.toLowerCase(), asked][how]!;
        const whole = `${before}${had}${behind}`;
        const pattern = new RegExp(asked.replaceAll(/[[\]\n]/g, "\\$&"), "i");
        if (pattern.test(whole)) expect(mayHave(gramFilter(whole), asked)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("it says no of most words that a long text does not have, and is small beside it", () => {
  const lines = Array.from({ length: 1_000 }, (_, i) => `src/file-${i}.ts:${i * 7}: step ${i} returns too early`);
  const filter = gramFilter(lines.join("\n"));
  expect(filter.length).toBeLessThan(lines.join("\n").length / 8);
  expect(
    ["Step 17 Returns", "no such table", "天気予報", "FATAL", "file-999.ts"].map((words) => mayHave(filter, words)),
  ).toEqual([true, false, false, false, true]);
});
