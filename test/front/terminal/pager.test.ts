import { expect, test } from "vitest";
import { PLAIN, type Style, styleFor } from "../../../src/front/presentation/style.ts";
import { createPager } from "../../../src/front/terminal/pager.ts";
import { drawn, KEYS, press, textOf, type } from "./keys.ts";

const SIZE = { columns: 60, rows: 12 };

function pager(
  lines: string[] | { length: number; line(i: number): string },
  more: { from?: "end"; style?: Style } = {},
) {
  const seen = { left: 0, asked: new Set<number>(), drawings: 0 };
  const source = Array.isArray(lines) ? { length: lines.length, line: (i: number) => lines[i]! } : lines;
  const panel = createPager({
    title: "TerminalTranscript",
    lines: {
      length: source.length,
      line(i) {
        seen.asked.add(i);
        return source.line(i);
      },
    },
    style: PLAIN,
    ...more,
    changed: () => void seen.drawings++,
    left: () => void seen.left++,
  });
  return { panel, seen };
}

const many = (length: number) => ({ length, line: (i: number) => `line ${i + 1}` });
const shown = ({ panel }: ReturnType<typeof pager>) => textOf(panel, SIZE).split("\n");
const where = (one: ReturnType<typeof pager>) => /lines \S+ of \d+/.exec(shown(one).at(-1)!)?.[0];

test("shows a page of the lines with a title, where one is, and what can be pressed", () => {
  expect(shown(pager(many(3)))).toEqual([
    "TerminalTranscript",
    "line 1",
    "line 2",
    "line 3",
    "lines 1–3 of 3 · ↑↓ PgUp PgDn Home End · / search · q back",
  ]);
  expect(where(pager(many(0)))).toBe("lines 0–0 of 0");
});

test("scrolls by line, by page, to the start and to the end, and no further", () => {
  const one = pager(many(100));
  const after = (...keys: string[]) => {
    drawn(one.panel, SIZE);
    press(one.panel, ...keys);
    return where(one);
  };
  expect([
    after(),
    after(KEYS.up),
    after(KEYS.down),
    after(KEYS.down, KEYS.down),
    after(KEYS.pageDown),
    after(" "),
    after(KEYS.pageUp),
    after(KEYS.end),
    after(KEYS.down, KEYS.pageDown),
    after(KEYS.up),
    after(KEYS.home),
  ]).toEqual([
    "lines 1–10 of 100",
    "lines 1–10 of 100",
    "lines 2–11 of 100",
    "lines 4–13 of 100",
    "lines 13–22 of 100",
    "lines 22–31 of 100",
    "lines 13–22 of 100",
    "lines 91–100 of 100",
    "lines 91–100 of 100",
    "lines 90–99 of 100",
    "lines 1–10 of 100",
  ]);
});

test("of 100,000 lines only those near the page are asked for, also at the end", () => {
  const one = pager(many(100_000), { from: "end" });
  expect(where(one)).toBe("lines 99991–100000 of 100000");
  press(one.panel, KEYS.home);
  drawn(one.panel, SIZE);
  press(one.panel, KEYS.pageDown, KEYS.end, KEYS.pageUp);
  expect(where(one)).toBe("lines 99982–99991 of 100000");
  expect(one.seen.asked.size).toBeLessThan(100);
});

test("a search goes to the next line that has it, n and N to others, around the end, and marks it", () => {
  const lines = Array.from({ length: 100 }, (_, i) =>
    i % 40 === 30 ? `here is a Needle.* (${i + 1})` : `line ${i + 1}`,
  );
  const one = pager(lines, { style: styleFor({ isTTY: true }, {}) });
  drawn(one.panel, SIZE);
  press(one.panel, "/");
  type(one.panel, "needle.*");
  expect(shown(one).at(-1)).toBe("/needle.*");
  press(one.panel, KEYS.enter);
  expect([where(one), drawn(one.panel, SIZE).lines[1]]).toEqual([
    "lines 31–40 of 100",
    "here is a \u001b[1m\u001b[33mNeedle.*\u001b[39m\u001b[22m (31)",
  ]);
  const after = (key: string) => {
    press(one.panel, key);
    return shown(one).at(-1)!.split(" · ").slice(0, 2);
  };
  expect([after("n"), after("n"), after("N"), after("N")]).toEqual([
    ["lines 71–80 of 100", "n N ↑↓ PgUp PgDn Home End"],
    ["lines 31–40 of 100", "from the top again"],
    ["lines 71–80 of 100", "from the end again"],
    ["lines 31–40 of 100", "n N ↑↓ PgUp PgDn Home End"],
  ]);
});

test("a search for what is not there stays where it is and says so; capitals count where there are any", () => {
  const one = pager(many(50));
  drawn(one.panel, SIZE);
  press(one.panel, KEYS.pageDown, "/");
  type(one.panel, "LINE 3");
  press(one.panel, KEYS.enter);
  expect(shown(one).at(-1)).toMatch(/^lines 10–19 of 50 · nothing fits LINE 3/);
});

test("Escape ends a search that is typed, and only then the pager; q leaves too, and Ctrl-C is left to others", () => {
  const { panel, seen } = pager(many(5));
  drawn(panel, SIZE);
  expect(press(panel, "/", "q", KEYS.escape)).toEqual([true, true, true]);
  expect(seen.left).toBe(0);
  press(panel, KEYS.escape, "q");
  expect([seen.left, press(panel, KEYS.ctrlC)]).toEqual([2, [false]]);
});

test("long lines are shown whole, in rows of their own, and counted as one", () => {
  const one = pager(["あ".repeat(70), "b".repeat(70), "c"]);
  expect(shown(one).slice(1, -1)).toEqual([
    "あ".repeat(30),
    "あ".repeat(30),
    "あ".repeat(10),
    "b".repeat(60),
    "bbbbbbbbbb",
    "c",
  ]);
  expect(where(one)).toBe("lines 1–3 of 3");
});

test("after any change of the size one is at the same line, and the page is full", () => {
  const one = pager({ length: 200, line: (i) => `${i + 1} ${"漢字".repeat(i % 30)}` });
  press(one.panel, KEYS.end);
  drawn(one.panel, SIZE);
  press(one.panel, KEYS.home, ...Array(40).fill(KEYS.down));
  const first = /lines (\d+)–/.exec(textOf(one.panel, SIZE))![1];
  for (const columns of [30, 200, 37, 60])
    for (const rows of [4, 30, 12]) {
      const { lines } = drawn(one.panel, { columns, rows });
      expect([lines.length, /lines (\d+)–/.exec(lines.at(-1)!)![1]]).toEqual([rows, first]);
    }
});
