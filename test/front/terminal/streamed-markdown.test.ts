// Markdown as it streams: however it is cut into pieces, the same lines come out, and every word of it once.
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PLAIN, type Style, styleFor } from "../../../src/front/presentation/style.ts";
import { createStreamedMarkdown, markdownLines } from "../../../src/front/terminal/streamed-markdown.ts";

const COLOURED: Style = styleFor({ isTTY: true }, {});
const WIDTHS = [20, 60, 100, 200];

/** Words of three letters that are in no other word, whatever stands beside them. */
const DIGITS = "0123456789abcdefghijklmnoprstuvwxyz";
const word = (n: number): string =>
  `q${DIGITS[Math.floor(n / DIGITS.length) % DIGITS.length]}${DIGITS[n % DIGITS.length]}`;

type Shape = (next: () => string) => string;

const many = (least: number, most: number, shape: fc.Arbitrary<Shape>, between: string): fc.Arbitrary<Shape> =>
  fc
    .array(shape, { minLength: least, maxLength: most })
    .map((all) => (next) => all.map((one) => one(next)).join(between));

const span: fc.Arbitrary<Shape> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Shape>((next) => next()) },
  fc.constantFrom<Shape>(
    (next) => `**${next()} ${next()}**`,
    (next) => `*${next()}*`,
    (next) => `\`${next()} ${next()}\``,
    (next) => `~~${next()}~~`,
    (next) => `[${next()}](https://${next()}.example)`,
    (next) => `![${next()}](${next()}.png)`,
    (next) => `$${next()}/bin`,
    (next) => `日本語${next()}の文`,
    (next) => `👩‍👩‍👧${next()} e\u0301`,
    (next) => `${next()}${"L".repeat(30)}`,
    (next) => `\\(${next()}\\) &amp; <b>${next()}</b>`,
  ),
);
const text = many(1, 12, span, " ");
const short = many(
  1,
  2,
  fc.constant<Shape>((next) => next()),
  " ",
);

const block: fc.Arbitrary<Shape> = fc.oneof(
  text,
  many(1, 3, text, "\n"),
  fc.tuple(fc.integer({ min: 1, max: 6 }), short).map(
    ([n, one]): Shape =>
      (next) =>
        `${"#".repeat(n)} ${one(next)}`,
  ),
  short.map(
    (one): Shape =>
      (next) =>
        `${one(next)}\n===`,
  ),
  many(
    1,
    4,
    text.map(
      (one): Shape =>
        (next) =>
          `- ${one(next)}`,
    ),
    "\n",
  ),
  many(
    2,
    3,
    fc.tuple(text, short).map(
      ([a, b]): Shape =>
        (next) =>
          `1. ${a(next)}\n   - ${b(next)}\n\n   ${b(next)}`,
    ),
    "\n",
  ),
  text.map(
    (one): Shape =>
      (next) =>
        `> ${one(next)}\n> - ${one(next)}\n>\n> ${next()}`,
  ),
  many(
    1,
    5,
    short.map(
      (one): Shape =>
        (next) =>
          `\t${one(next)} **  # >`,
    ),
    "\n",
  ).map(
    (one): Shape =>
      (next) =>
        `\`\`\`${next()}\n${one(next)}\n\n\`\`\``,
  ),
  short.map(
    (one): Shape =>
      (next) =>
        `2. ${next()}:\n   ~~~\n   ${one(next)}\n   ~~~\n   ${next()}`,
  ),
  short.map(
    (one): Shape =>
      (next) =>
        `    ${one(next)}\n\n    ${one(next)}`,
  ),
  many(
    1,
    4,
    short.map(
      (one): Shape =>
        (next) =>
          `| ${one(next)} | **${next()}** |`,
    ),
    "\n",
  ).map(
    (one): Shape =>
      (next) =>
        `| ${next()} | ${next()} |\n|---|:-:|\n${one(next)}`,
  ),
  fc.constantFrom<Shape>(
    () => "---",
    () => "-",
    (next) => `[${next()}]: https://${next()}`,
    (next) => `[^1]: ${next()}`,
  ),
);

const document = fc
  .tuple(fc.array(block, { minLength: 1, maxLength: 6 }), fc.constantFrom("\n\n", "\n", "\n\n\n"))
  .map(([blocks, between]) => {
    let n = 0;
    const next = () => word(n++);
    const source = blocks.map((one) => one(next)).join(between);
    return { source, words: Array.from({ length: n }, (_, i) => word(i)) };
  });

/** Where a text is cut, as parts of its length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 60 });

function pieces(source: string, at: number[]): string[] {
  const ends = [...at.map((part) => Math.floor(part * source.length)), source.length].sort((a, b) => a - b);
  return ends.map((end, i) => source.slice(ends[i - 1] ?? 0, end));
}

function streamed(all: string[], columns: number, style: Style): { lines: string[]; live: string[] } {
  const stream = createStreamedMarkdown({ columns, style });
  const live: string[] = [];
  const lines = all.flatMap((piece) => {
    const finished = stream.push(piece);
    live.push(...stream.live());
    return finished;
  });
  return { lines: [...lines, ...stream.end()], live };
}

const bare = (lines: string[]): string => lines.join("").replace(/\u001b\[[\d;]*m|[\s│]/g, "");
const timesIn = (all: string, one: string): number => all.split(one).length - 1;
const tooWide = (lines: string[], columns: number): string[] => lines.filter((line) => visibleWidth(line) > columns);

describe("Markdown in pieces", () => {
  it("gives the lines of the whole, however it is cut", () => {
    fc.assert(
      fc.property(document, cuts, fc.constantFrom(...WIDTHS), ({ source }, at, columns) => {
        const look = { columns, style: COLOURED };
        expect(streamed(pieces(source, at), columns, COLOURED).lines).toEqual(markdownLines(source, look));
      }),
      { numRuns: 300 },
    );
  });

  it("has every word exactly once, in lines that fit, letter by letter too", () => {
    fc.assert(
      fc.property(document, cuts, fc.constantFrom(...WIDTHS), ({ source, words }, at, columns) => {
        for (const all of [pieces(source, at), [...source]]) {
          const { lines, live } = streamed(all, columns, PLAIN);
          expect(tooWide([...lines, ...live], columns)).toEqual([]);
          const shown = bare(lines);
          expect(words.filter((one) => timesIn(shown, one) !== 1)).toEqual([]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("brings no escape sequence but our styles, and with none of them no control character at all", () => {
    fc.assert(
      fc.property(document, cuts, fc.string({ unit: "binary", maxLength: 40 }), ({ source }, at, noise) => {
        const all = pieces(`${source.slice(0, 20)}${noise}\u001b]8;;x\u0007&#27;${source}`, at);
        const plain = streamed(all, 40, PLAIN);
        expect([...plain.lines, ...plain.live].join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        const coloured = streamed(all, 40, COLOURED);
        const rest = [...coloured.lines, ...coloured.live].join("").replace(/\u001b\[[\d;]*m/g, "");
        expect(rest).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });

  it("closes its styles at the end of every line", () => {
    const source = `**${"bold words ".repeat(20)}** and *${"slanted ".repeat(20)}* and \`${"code ".repeat(30)}\``;
    for (const line of markdownLines(source, { columns: 30, style: COLOURED })) {
      const on = [...line.matchAll(/\u001b\[([\d;]*)m/g)].flatMap(([, codes]) => codes!.split(";").map(Number));
      const open = new Set<number>();
      for (const code of on) {
        if (code < 20) open.add(code < 3 ? 22 : code + 20);
        else if (code >= 30 && code < 38) open.add(39);
        else open.delete(code);
      }
      expect([line, ...open]).toEqual([line]);
    }
  });
});

describe("what is not finished", () => {
  const grown = (piece: (i: number) => string, count: number) => {
    const stream = createStreamedMarkdown({ columns: 60, style: PLAIN });
    let tallest = 0;
    let source = "";
    const lines = Array.from({ length: count }, (_, i) => {
      source += piece(i);
      const finished = stream.push(piece(i));
      tallest = Math.max(tallest, stream.live().length);
      return finished;
    }).flat();
    return { source, tallest, lines: [...lines, ...stream.end()] };
  };

  it("stays low while a paragraph grows, and its lines are those of the whole", () => {
    for (const piece of [
      (i: number) => `${word(i)} **and** \`${i}\` `,
      (i: number) => `${word(i)}日本語の文章`,
      (i: number) => `aGVsbG8gd29ybGQ${i}`,
      (i: number) => `a line of ${word(i)}\n`,
    ]) {
      const { source, tallest, lines } = grown(piece, 900);
      expect(lines).toEqual(markdownLines(source, { columns: 60, style: PLAIN }));
      expect(tallest).toBeLessThanOrEqual(16);
    }
  });

  it("stays bounded where a mark is opened and never closed", () => {
    const { tallest, lines } = grown((i) => `${i === 0 ? "**" : ""}${word(i)} *_ `, 900);
    expect(tallest).toBeLessThanOrEqual(60);
    const shown = bare(lines);
    expect(Array.from({ length: 900 }, (_, i) => word(i)).filter((one) => timesIn(shown, one) !== 1)).toEqual([]);
  });

  it("is one line of a fence, however long the fence is, and a part of a line that never ends", () => {
    const fence = grown((i) => (i === 0 ? "```ts\n" : `const n = ${i};\n`), 5_000);
    expect({ tallest: fence.tallest, lines: fence.lines.length }).toEqual({ tallest: 0, lines: 5_000 });
    const line = grown((i) => (i === 0 ? "```\n" : "0123456789".repeat(10)), 200);
    expect(line.tallest).toBeLessThanOrEqual(16);
    expect(line.lines).toEqual(markdownLines(line.source, { columns: 60, style: PLAIN }));
  });

  it("is no row of a tall table: each is printed when it is whole, in the columns of the first ones", () => {
    const { tallest, lines } = grown((i) => (i === 0 ? "| a | b |\n|---|---|\n" : `| ${word(i)} | x |\n`), 60);
    expect(tallest).toBeLessThanOrEqual(18);
    expect(lines.slice(0, 4)).toEqual(["┌─────┬───┐", "│ a   │ b │", "├─────┼───┤", "│ q01 │ x │"]);
    expect(lines).toHaveLength(4 + 59);
    expect(lines.at(-1)).toBe("└─────┴───┘");
  });

  it("fits a screen that got narrower, also in the middle of a tall table", () => {
    fc.assert(
      fc.property(document, cuts, ({ source, words }, at) => {
        const stream = createStreamedMarkdown({ columns: 100, style: PLAIN });
        const rows = Array.from({ length: 20 }, (_, i) => `| cell ${i} | another of this row, and long |\n`).join("");
        const all = pieces(`| x | y |\n|---|---|\n${rows}| ${"narrow ".repeat(9)} | z |\n\n${source}`, at);
        const half = Math.floor(all.length / 2);
        const before = all.slice(0, half).flatMap((piece) => stream.push(piece));
        stream.resize(24);
        const after = [...all.slice(half).flatMap((piece) => stream.push(piece)), ...stream.end()];
        expect(tooWide(after, 24)).toEqual([]);
        const shown = bare([...before, ...after]);
        expect(words.filter((one) => timesIn(shown, one) !== 1)).toEqual([]);
      }),
    );
  });

  it("shows nothing of a line that may become anything", () => {
    const stream = createStreamedMarkdown({ columns: 60, style: PLAIN });
    expect(stream.push("A title?\n--")).toEqual([]);
    expect(stream.live()).toEqual(["A title?"]);
    expect(stream.push("- and so on")).toEqual([]);
    expect(stream.live()).toEqual(["A title?", "--- and so on"]);
  });
});

describe("how blocks look", () => {
  it("without colour", () => {
    const source = [
      "# Title\nSee [the page](https://x.example) and `$HOME`.\n",
      "1. First:\n   ```sh\n   npm  test\n   ```\n   after\n2. Second\n  - two blanks are enough\n    - deeper\n",
      "> said\n> - once\n>\n> end\n",
      "| a | b |\n|---|---|\n| 1 | x\\|y |\n",
      "***",
      "[ref]: https://y.example",
    ].join("\n");
    expect(markdownLines(source, { columns: 44, style: PLAIN })).toEqual([
      "Title",
      "",
      "See the page (https://x.example) and $HOME.",
      "",
      "1. First:",
      "   ```sh",
      "   npm  test",
      "   ```",
      "   after",
      "2. Second",
      "   - two blanks are enough",
      "     - deeper",
      "",
      "│ said",
      "│ - once",
      "│",
      "│ end",
      "",
      "┌───┬─────┐",
      "│ a │ b   │",
      "├───┼─────┤",
      "│ 1 │ x|y │",
      "└───┴─────┘",
      "",
      "────────────────────────────────────────",
      "[ref]: https://y.example",
    ]);
  });
});
