// Random lives of a screen: sizes, finished lines, live lines, carets.
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import fc from "fast-check";
import type { Size, View } from "../../../src/front/terminal/view.ts";

export const PIECES = [
  "plain words ",
  "日本語のテスト",
  "e\u0301te\u0301 ",
  "\u001b[1;36mstyled\u001b[39;22m ",
  "──────",
  "x",
];
export const EMOJI = ["👍", "👨‍👩‍👧 ", "❤️ ", "🇩🇪"];

export interface Step {
  resize?: Partial<Size>;
  append?: string[];
  live: string[];
  caret: number;
}

const text = (pieces: string[]) => fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((all) => all.join(""));

interface Range {
  pieces: string[];
  columns: [number, number];
  rows: [number, number];
  live: number;
  /** Width and height may change together. */
  both: boolean;
}

export function steps(opts: Range) {
  const columns = fc.integer({ min: opts.columns[0], max: opts.columns[1] });
  const rows = fc.integer({ min: opts.rows[0], max: opts.rows[1] });
  const size = opts.both
    ? fc.record({ columns, rows })
    : fc.oneof({ weight: 2, arbitrary: fc.record({ columns }) }, { weight: 1, arbitrary: fc.record({ rows }) });
  const step: fc.Arbitrary<Step> = fc.record({
    resize: fc.option(size, { nil: undefined, freq: 4 }),
    append: fc.option(fc.array(text(opts.pieces), { maxLength: 4 }), { nil: undefined, freq: 2 }),
    live: fc.array(text(opts.pieces), { maxLength: opts.live }),
    caret: fc.nat(10_000),
  });
  return fc.array(step, { minLength: process.env.FC_SHRINK ? 0 : 60, maxLength: 60, size: "max" });
}

export const cut = (line: string, columns: number) => truncateToWidth(line, columns, "");

/** Where the caret of a view is: at the start of a character of one of its lines. */
export function viewAt(live: string[], caret: number, { columns }: Size): View {
  if (live.length === 0) return { lines: [] };
  const lines = live.map((line) => cut(line, columns));
  const row = caret % lines.length;
  const bare = lines[row]!.replace(/\u001b\[[\d;]*m/g, "");
  const starts = [...new Intl.Segmenter().segment(bare)].map(({ index }) => visibleWidth(bare.slice(0, index)));
  return { lines, caret: { row, column: starts[caret % (starts.length || 1)] ?? 0 } };
}

export const withoutEmptyEnd = (rows: string[]) => rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);

export const bare = (line: string) => line.replace(/\u001b\[[\d;]*m/g, "").trimEnd();
