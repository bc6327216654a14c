// Many lines in few rows: where one stands in them. Only the lines that are shown are asked for.
import { rowsOf } from "./rows.ts";
import type { Size } from "./view.ts";

/** Contract: a line has no control characters but colours. */
export interface LineSource {
  readonly length: number;
  line(i: number): string;
}

export interface Scrolled {
  rows: string[];
  /** The first and the last line that is shown, counted from one. */
  first: number;
  last: number;
  /** The end of the last line is shown. */
  isEnd: boolean;
}

export interface Scroll {
  /** Contract: at most so many rows; the last page is full. */
  view(size: Size): Scrolled;
  /** By rows, as they were shown last. */
  by(rows: number): void;
  page(pages: number): void;
  toStart(): void;
  toEnd(): void;
  /** At the top of the page where there are enough lines below it. */
  toLine(i: number): void;
  /** Lines are shown otherwise than they were. */
  reread(): void;
}

interface Place {
  line: number;
  row: number;
}

/** `mark`: what a row begins with that goes on with the line above it. */
export function createScroll(source: LineSource, mark = ""): Scroll {
  let size: Size = { columns: 80, rows: 24 };
  let top: Place = { line: 0, row: 0 };
  let wrapped = new Map<number, string[]>();

  function rowsAt(line: number): string[] {
    const known = wrapped.get(line);
    if (known) return known;
    if (wrapped.size > 4 * size.rows) wrapped = new Map();
    const rows = rowsOf(source.line(line), size.columns, mark);
    wrapped.set(line, rows);
    return rows;
  }

  /** Where the last page begins. */
  function lastTop(): Place {
    let room = size.rows;
    for (let line = source.length - 1; line >= 0; line--) {
      const { length } = rowsAt(line);
      if (length >= room) return { line, row: length - room };
      room -= length;
    }
    return { line: 0, row: 0 };
  }

  const isAfter = (a: Place, b: Place): boolean => a.line > b.line || (a.line === b.line && a.row > b.row);

  function clamp(): void {
    const last = lastTop();
    if (isAfter(top, last)) top = last;
    if (source.length > 0) top = { line: top.line, row: Math.min(top.row, rowsAt(top.line).length - 1) };
  }

  function by(rows: number): void {
    let { line, row } = top;
    for (let left = rows; left > 0 && line < source.length; left--) {
      if (row + 1 < rowsAt(line).length) row++;
      else [line, row] = [line + 1, 0];
    }
    for (let left = rows; left < 0 && (line > 0 || row > 0); left++) {
      if (row > 0) row--;
      else [line, row] = [line - 1, rowsAt(line - 1).length - 1];
    }
    top = { line, row };
    clamp();
  }

  return {
    view(now) {
      if (now.columns !== size.columns) wrapped = new Map();
      size = { columns: now.columns, rows: Math.max(1, now.rows) };
      clamp();
      const rows: string[] = [];
      let { line, row } = top;
      let last = line;
      while (rows.length < size.rows && line < source.length) {
        rows.push(rowsAt(line)[row]!);
        last = line;
        if (row + 1 < rowsAt(line).length) row++;
        else [line, row] = [line + 1, 0];
      }
      return {
        rows,
        first: Math.min(top.line + 1, source.length),
        last: Math.min(last + 1, source.length),
        isEnd: line >= source.length,
      };
    },
    by,
    page: (pages) => by(pages * Math.max(1, size.rows - 1)),
    toStart() {
      top = { line: 0, row: 0 };
    },
    toEnd() {
      top = lastTop();
    },
    toLine(i) {
      top = { line: i, row: 0 };
    },
    reread() {
      wrapped = new Map();
    },
  };
}

/** `lines 1–12 of 80` */
export const shownLines = ({ first, last }: Scrolled, total: number): string => `lines ${first}–${last} of ${total}`;

/** Keys that scroll. Contract: true when it was one of them. */
export function scrollBy(scroll: Scroll, name: string | undefined): boolean {
  switch (name) {
    case "up":
      scroll.by(-1);
      return true;
    case "down":
      scroll.by(1);
      return true;
    case "pageUp":
      scroll.page(-1);
      return true;
    case "pageDown":
    case "space":
      scroll.page(1);
      return true;
    case "home":
      scroll.toStart();
      return true;
    case "end":
      scroll.toEnd();
      return true;
    default:
      return false;
  }
}
