// Lines made to fit the terminal, all by one measure: broken anywhere or between words, cut, filled up. Wide characters stay whole, styles go on.
import { clusters } from "../../text/columns.ts";
import { lineWidth } from "./cells.ts";

const PLAIN_ASCII = /^[\u0020-\u007e]*$/;
const SGR = /(\u001b\[[0-9;]*m)/;
const CODES = /\u001b\[[0-9;]*m/g;
const RESET = "\u001b[0m";

/** Characters as people see them. */
export function* graphemes(text: string): Generator<{ segment: string }> {
  for (const segment of clusters(text)) yield { segment };
}

/** Contract: the line has no control characters but colours. `mark`: what every row after the first begins with. */
export function rowsOf(line: string, columns: number, mark = ""): string[] {
  const first = Math.max(1, columns);
  const later = Math.max(1, columns - lineWidth(mark));
  if (PLAIN_ASCII.test(line)) return asciiRows(line, { first, later, mark });
  const rows: string[] = [];
  let row = "";
  let room = first;
  let open: readonly string[] = [];
  for (const part of line.split(SGR)) {
    if (SGR.test(part)) {
      open = stillOpen(open, part);
      row += part;
      continue;
    }
    for (const { segment } of graphemes(part)) {
      const width = lineWidth(segment);
      if (width > room && room < (rows.length === 0 ? first : later)) {
        rows.push(open.length > 0 ? row + RESET : row);
        row = mark + open.join("");
        room = later;
      }
      row += segment;
      room -= width;
    }
  }
  return [...rows, row];
}

function asciiRows(line: string, { first, later, mark }: { first: number; later: number; mark: string }): string[] {
  const rows = [line.slice(0, first)];
  for (let at = first; at < line.length; at += later) rows.push(mark + line.slice(at, at + later));
  return rows;
}

/** Which codes each code ends. */
const ENDS: Readonly<Record<number, RegExp>> = {
  22: /^[12]$/,
  23: /^3$/,
  24: /^4$/,
  29: /^9$/,
  39: /^(?:3[0-7]|9[0-7]|38;.*)$/,
};

/** The styles that hold after one more: each kind ends by a code of its own. */
function stillOpen(open: readonly string[], code: string): string[] {
  const number = Number(/\[(\d*)/.exec(code)?.[1] || 0);
  if (number === 0) return [];
  const ends = ENDS[number];
  return ends ? open.filter((one) => !ends.test(one.slice(2, -1))) : [...open, code];
}

/** Rows of one line: a style that goes on is closed in each row, and opened again in the next. */
function withStyles(rows: readonly string[]): string[] {
  let open: readonly string[] = [];
  return rows.map((row) => {
    const before = open.join("");
    for (const [code] of row.matchAll(CODES)) open = stillOpen(open, code);
    return before + row + (open.length > 0 ? RESET : "");
  });
}

/** Chinese, Japanese and Korean are broken between any two characters, but not before what closes a sentence or a bracket. */
const WIDE_WORDS =
  /(?<= (?:\u001b\[[0-9;]*m)*)(?!\u001b)|(?:(?<=[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60])|(?=[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60]))(?![\p{M}、。，．・：；！？」』）】〉》ーぁぃぅぇぉっゃゅょァィゥェォッャュョ])/u;
const WORDS = /(?<= (?:\u001b\[[0-9;]*m)*)(?!\u001b)/;
const HAS_WIDE = /[\u3000-\u9fff\uac00-\ud7a3\uff01-\uff60]/;

/** Without the blanks at its end; styles that end behind them end all the same. */
const unblanked = (row: string): string => row.replace(/ +((?:\u001b\[[0-9;]*m)*)$/, "$1");

/** Broken between words where that can be. `mark`: what every row after the first begins with. */
export function wordRows(text: string, columns: number, mark = ""): string[] {
  if (lineWidth(text) <= columns) return [text];
  const later = Math.max(1, columns - lineWidth(mark));
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(HAS_WIDE.test(text) ? WIDE_WORDS : WORDS)) {
    if (lineWidth(unblanked(row + word)) <= (rows.length === 0 ? columns : later)) {
      row += word;
      continue;
    }
    if (row.trim() !== "") rows.push(unblanked(row));
    const parts = rowsOf(word, later);
    rows.push(...parts.slice(0, -1));
    row = parts.at(-1)!;
  }
  return withStyles([...rows, unblanked(row)]).map((one, i) => (i === 0 ? one : mark + one));
}

const MOST_INDENT = 8;

/** Contract: no line is wider than the columns; what is wrapped goes on below, indented like the line that it belongs to. */
export function wrappedLines(lines: readonly string[], columns: number): string[] {
  return lines
    .flatMap((line) => line.split("\n"))
    .flatMap((line) => {
      if (lineWidth(line) <= columns) return [line];
      const indent = /^ */.exec(line)?.[0].length ?? 0;
      const margin = " ".repeat(Math.min(indent, MOST_INDENT));
      const rows = wordRows(line.slice(indent), Math.max(8, columns - margin.length));
      return rows.map((row) => margin + row);
    });
}

/** Up to the second cell of a row of a table, which stands behind more than one blank. */
const FIRST_CELL = /^ *\S.*? {2,}(?=\S)/;

/** Rows of a table: what does not fit goes on below its second cell, or, where that leaves too little room, a little indented. */
export function tableRows(lines: readonly string[], columns: number): string[] {
  return lines.flatMap((line) => {
    const cell = lineWidth(FIRST_CELL.exec(line)?.[0] ?? "");
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const hang = cell > 0 && cell <= columns / 2 ? cell : Math.min(indent + 2, MOST_INDENT);
    return wordRows(line, columns, " ".repeat(hang));
  });
}

/** At most one row; what is longer ends in `…`. For what is not decided upon. */
export function cutRow(line: string, columns: number): string {
  if (lineWidth(line) <= columns) return line;
  if (columns < 2) return columns < 1 ? "" : "…";
  return `${rowsOf(line, columns - 1)[0]}…`;
}

/** Filled up with blanks, or cut. */
export function paddedRow(line: string, columns: number): string {
  const row = cutRow(line, columns);
  return row + " ".repeat(Math.max(0, columns - lineWidth(row)));
}
