// One frame: the bytes that turn what stands on the terminal into what should stand there.
import { costOf, cutLine, drawing, ERASE_LINE, lineChange, lineWidth, toColumn } from "./cells.ts";
import { type Reflow, rowsAboveCursor } from "./reflow.ts";
import type { Caret, Size, View } from "./view.ts";

/** What stands on the terminal. Contract: at least one line; the cursor is on one of them. */
export interface OnScreen {
  lines: readonly string[];
  cursor: Caret;
  isCursorShown: boolean;
  size: Size;
}

export interface Frame {
  /** Empty when nothing has to be written. */
  bytes: string;
  next: OnScreen;
}

export const untouched = (size: Size): OnScreen => ({
  lines: [""],
  cursor: { row: 0, column: 0 },
  isCursorShown: true,
  size,
});

export interface Wanted {
  finished: readonly string[];
  view: View;
  size: Size;
  reflow: Reflow;
  /** Somebody says that the size changed, even if it is the same again. */
  isResized: boolean;
}

/** Contract: `finished` come above the live lines; afterwards they are the terminal's own. */
export function frameOf(before: OnScreen, wanted: Wanted): Frame {
  const { finished, size } = wanted;
  const { lines, caret } = fitting(wanted.view, size);
  const pen = createPen(before.cursor, size.columns);
  const isSame = before.size.columns === size.columns && before.size.rows === size.rows;
  if (wanted.isResized || !isSame) drawAnew(pen, [...finished, ...lines], rowsAboveCursor(before, size, wanted.reflow));
  else if (finished.some((line) => lineWidth(line) > size.columns))
    drawAnew(pen, [...finished, ...lines], before.cursor.row);
  else drawChanges(pen, before.lines, { lines: [...finished, ...lines], rows: size.rows });
  const cursor = caret ?? { row: lines.length - 1, column: 0 };
  const isCursorShown = caret !== undefined;
  pen.to(finished.length + cursor.row, cursor.column);
  const shown = isCursorShown === before.isCursorShown ? "" : isCursorShown ? "\u001b[?25h" : "\u001b[?25l";
  const bytes = pen.written() + shown;
  return {
    bytes: bytes === "" ? "" : `\u001b[?2026h${bytes}\u001b[?2026l`,
    next: { lines, cursor, isCursorShown, size },
  };
}

/** The part of a view that the screen has room for: the end of it, or the part around the caret. */
function fitting({ lines, caret }: View, { columns, rows }: Size): { lines: string[]; caret?: Caret } {
  const all = lines.length === 0 ? [""] : lines;
  const room = Math.max(1, rows);
  const middle = (caret?.row ?? all.length) - (room >> 1);
  const start = Math.max(0, Math.min(all.length - room, middle));
  const cut = (line: string) => (lineWidth(line) > columns ? cutLine(line, columns) : line);
  return {
    lines: all.slice(start, start + room).map(cut),
    caret: caret && {
      row: Math.min(Math.max(0, caret.row - start), all.length - start - 1, room - 1),
      column: Math.min(caret.column, columns - 1),
    },
  };
}

interface Pen {
  columns: number;
  /** To a row that is on the screen, counted from the first live line. */
  to(row: number, column: number): void;
  /** Whether lines may be broken by the terminal. */
  write(bytes: string, at: { column: number | undefined; mayWrap?: boolean }): void;
  /** Down, with new rows where the screen ends. */
  newRows(count: number): void;
  /** The row is counted in another way from now on. */
  isAt(row: number): void;
  written(): string;
}

function createPen(start: Caret, columns: number): Pen {
  let out = "";
  let row = start.row;
  /** Not known after a sequence that terminals treat differently, and after the last column. */
  let column: number | undefined = start.column;
  return {
    columns,
    to(toRow, to) {
      if (toRow < row) out += toRow === row - 1 ? "\u001b[A" : `\u001b[${row - toRow}A`;
      // Not by a movement, which ends at the last row: a screen that got lower just now may have dropped rows below the cursor.
      if (toRow > row) {
        out += "\r\n".repeat(toRow - row);
        column = 0;
      }
      if (to !== column) out += toColumn(to);
      row = toRow;
      column = to;
    },
    write(bytes, at) {
      out += at.mayWrap ? `\u001b[?7l${bytes}\u001b[?7h` : bytes;
      column = at.mayWrap || at.column === undefined || at.column >= columns ? undefined : at.column;
    },
    newRows(count) {
      out += "\r\n".repeat(count);
      row += count;
      column = 0;
    },
    isAt(at) {
      row = at;
    },
    written: () => out,
  };
}

/** Takes all live lines away and draws below what is finished. Lines wider than the screen are broken by the terminal: nobody counts their rows. */
function drawAnew(pen: Pen, lines: readonly string[], rowsUp: number): void {
  pen.isAt(rowsUp);
  pen.write("", { column: undefined });
  pen.to(0, 0);
  // From the second column: from the very first of the screen, tmux would keep all that is erased in its history.
  pen.write(`${ERASE_LINE}\u001b[C\u001b[J`, { column: undefined });
  lines.forEach((line, i) => {
    if (i > 0) pen.newRows(1);
    pen.to(i, 0);
    drawFresh(pen, line);
  });
}

function drawFresh(pen: Pen, line: string): void {
  const width = lineWidth(line);
  if (width > pen.columns) {
    pen.write(line, { column: undefined });
    return;
  }
  const { bytes, mayWrap } = drawing(line, pen.columns);
  pen.write(bytes, { column: width, mayWrap });
}

/** Writes only what differs. Where rows come or go in the middle, those below are moved by the terminal and not drawn again. */
function drawChanges(pen: Pen, before: readonly string[], wanted: { lines: readonly string[]; rows: number }): void {
  const { lines } = wanted;
  const more = lines.length - before.length;
  const at = more === 0 ? lines.length : placeOfChange(before, wanted);
  const change = (old: string, row: number) => {
    const line = lines[row]!;
    if (old === line) return;
    const { column, bytes, mayWrap, end } = lineChange(old, line, pen.columns);
    pen.to(row, column);
    pen.write(bytes, { column: end, mayWrap });
  };
  // Rows above the place first: the screen may scroll them away when it makes room.
  for (let row = 0; row < Math.min(at, before.length); row++) change(before[row]!, row);
  if (more > 0 && at < before.length) {
    pen.to(before.length - 1, 0);
    pen.newRows(more);
    pen.to(at, 0);
    pen.write(`\u001b[${more > 1 ? more : ""}L`, { column: undefined });
    for (let row = at; row < at + more; row++) change("", row);
  } else if (more > 0) {
    pen.to(before.length - 1, 0);
    for (let row = at; row < lines.length; row++) {
      pen.newRows(1);
      drawFresh(pen, lines[row]!);
    }
  } else if (more < 0 && at < lines.length) {
    pen.to(at, 0);
    pen.write(`\u001b[${more < -1 ? -more : ""}M`, { column: undefined });
  } else if (more < 0) {
    pen.to(at, 0);
    pen.write("\u001b[J", { column: 0 });
  }
  for (let row = at + Math.max(0, more); row < lines.length; row++) change(before[row - more]!, row);
}

/** Costs about as much as moving rows. */
const MOVING = 24;

/** The row at which rows come or go so that the fewest bytes are written; past the last one: they come or go at the end. */
function placeOfChange(before: readonly string[], { lines, rows }: { lines: readonly string[]; rows: number }): number {
  const more = lines.length - before.length;
  const last = Math.min(before.length, lines.length);
  const coming = (row: number) => (more > 0 ? costOf("", lines[row]!) : 0);
  // At the end: all rows stay where they are.
  let cost = 0;
  for (let row = 0; row < last; row++) cost += costOf(before[row]!, lines[row]!);
  for (let row = last; row < lines.length; row++) cost += coming(row);
  let [best, place] = [cost - MOVING, last];
  // One row further up: that row is moved, and another one comes in its place.
  for (let at = last - 1; at >= 0; at--) {
    // What is moved has to stay on the screen.
    if (more > 0 && before.length - at + more > rows) break;
    const shift = Math.max(0, more);
    const gone = Math.max(0, -more);
    cost += costOf(before[at + gone]!, lines[at + shift]!) - costOf(before[at]!, lines[at]!);
    cost += coming(at) - (more > 0 ? coming(at + shift) : 0);
    if (cost < best) [best, place] = [cost, at];
  }
  return place;
}
