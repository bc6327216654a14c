// A line as rows that fit the terminal: nothing of it is dropped, wide characters stay whole, colours go on in the next row.
import { clusters } from "../../text/columns.ts";
import { lineWidth } from "./cells.ts";

const PLAIN_ASCII = /^[\u0020-\u007e]*$/;
const SGR = /(\u001b\[[0-9;]*m)/;
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
  let open: string[] = [];
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

/** The styles that hold after one more: each kind ends by a code of its own. */
function stillOpen(open: string[], code: string): string[] {
  const number = Number(/\[(\d*)/.exec(code)?.[1] || 0);
  if (number === 0) return [];
  if (number === 22) return open.filter((one) => one !== "\u001b[1m" && one !== "\u001b[2m");
  if (number === 39) return open.filter((one) => !/^\u001b\[3[0-7]m$/.test(one));
  return [...open, code];
}

/** Broken between words where that can be: for sentences of ours. Contract: no colours. */
export function wordRows(text: string, columns: number, mark = ""): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(/(?<= )/)) {
    const room = columns - (rows.length === 0 ? 0 : lineWidth(mark));
    if (lineWidth(row + word.trimEnd()) <= room) {
      row += word;
      continue;
    }
    if (row.trim() !== "") rows.push(row.trimEnd());
    const parts = rowsOf(word, columns - lineWidth(mark));
    rows.push(...parts.slice(0, -1));
    row = parts.at(-1)!;
  }
  return [...rows, row].map((one, i) => (i === 0 ? one : mark + one));
}

/** At most one row; what is longer ends in `…`. For what is not decided upon. */
export function cutRow(line: string, columns: number): string {
  if (lineWidth(line) <= columns) return line;
  return `${rowsOf(line, columns - 1)[0]}…`;
}

/** Filled up with blanks, or cut. */
export function paddedRow(line: string, columns: number): string {
  const row = cutRow(line, columns);
  return row + " ".repeat(Math.max(0, columns - lineWidth(row)));
}
