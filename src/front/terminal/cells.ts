// What a line does to the cells of a terminal: where it changed, which style is on there, and which characters terminals disagree about.
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { clusters, JOINS_THE_NEXT } from "../../text/columns.ts";

const ESCAPE = "\u001b";
export const ERASE_LINE = "\u001b[K";

/** Every terminal gives these the same columns: letters, accents, signs, frames, and the wide ones of Chinese, Japanese and Korean. */
const AGREED =
  /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u036f\u0370-\u0377\u0384-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u2199\u21d0-\u21d5\u2200-\u22ff\u2500-\u25f5\u2713\u2717\u2800-\u28ff\u3001-\u3029\u3030\u3041-\u3096\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;
const STYLE = /\u001b\[([\d;:]*)m/y;
const STYLES = /\u001b\[[\d;:]*m/g;
/** Parts of a line: sequences that move nothing, and text between them. */
const PARTS =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[^[\]P_^X]?|[^\u001b]+/g;
const JOINS_THE_ONE_BEFORE = /^[\u0300-\u036f\u0483-\u0489\udc00-\udfff]/;

/** Holds only text that every terminal measures alike, and styles. */
const isPlain = (line: string): boolean => AGREED.test(line.replace(STYLES, ""));

interface Cell {
  text: string;
  width: number;
  agreed: boolean;
}

/** Calls for each sequence and each character as people see it. */
function eachPart(line: string, take: (part: { sequence: string } | Cell) => void): void {
  for (const [part] of line.matchAll(PARTS)) {
    if (part.startsWith(ESCAPE)) take({ sequence: part });
    else if (AGREED.test(part)) {
      for (const text of clusters(part)) take({ text, width: visibleWidth(text), agreed: true });
    } else for (const text of clusters(part)) take({ text, width: visibleWidth(text), agreed: AGREED.test(text) });
  }
}

/** How many columns a line takes: a sign that Unicode joins to the next character has one of its own, as terminals draw it. */
export function lineWidth(line: string): number {
  if (!JOINS_THE_NEXT.test(line)) return visibleWidth(line);
  let width = 0;
  eachPart(line, (part) => {
    if (!("sequence" in part)) width += part.width;
  });
  return width;
}

/** Its first columns, with all of its styles. */
export function cutLine(line: string, columns: number): string {
  let kept = "";
  let width = 0;
  eachPart(line, (part) => {
    if ("sequence" in part) kept += part.sequence;
    else {
      width += part.width;
      if (width <= columns) kept += part.text;
    }
  });
  return kept;
}

export interface Drawing {
  bytes: string;
  /** Terminals may find it wider than we do: no wrapping while it is drawn. */
  mayWrap: boolean;
}

/**
 * The bytes of a line that begins in an empty row. After each character that terminals measure differently, the column is said again:
 * so all that follows stands where we think it does, whatever the terminal thinks of an emoji.
 */
export function drawing(line: string, columns: number): Drawing {
  if (isPlain(line)) return { bytes: line + closing(line, line.length), mayWrap: false };
  let bytes = "";
  let column = 0;
  let isLast = false;
  eachPart(line, (part) => {
    if ("sequence" in part) {
      bytes += part.sequence;
      return;
    }
    bytes += part.text;
    column += part.width;
    isLast = !part.agreed && column < columns;
    if (isLast) bytes += toColumn(column);
  });
  return { bytes: bytes + closing(line, line.length) + (isLast ? ERASE_LINE : ""), mayWrap: true };
}

/**
 * Rows that a line takes when a terminal breaks it anew at so many columns, and the row in which a column of it is then.
 * Contract: where terminals disagree, the fewest.
 */
export function broken(line: string, columns: number): { rows: number; rowOf(column: number): number } {
  const width = lineWidth(line);
  if (width <= columns) return { rows: 1, rowOf: () => 0 };
  const cells: Cell[] = [];
  eachPart(line, (part) => "sequence" in part || cells.push(part));
  const starts = [0];
  let column = 0;
  cells.forEach(({ width, agreed }, i) => {
    // What terminals disagree about may be one column and an empty one: then it can be broken between them, and the empty one is nothing at the end.
    const isDoubtful = !agreed && width > 1;
    const pieces = isDoubtful ? Array.from({ length: i === cells.length - 1 ? 1 : width }, () => 1) : [width];
    for (const piece of pieces) {
      if (column + piece - starts.at(-1)! > columns) starts.push(column);
      column += piece;
    }
  });
  return {
    rows: starts.length,
    rowOf: (column) => (column >= width ? starts.length : starts.filter((start) => start <= column).length) - 1,
  };
}

export interface LineChange {
  column: number;
  bytes: string;
  mayWrap: boolean;
  /** The column after it, where that is sure. */
  end: number;
}

/** What has to be written where `before` stands so that `after` stands there. */
export function lineChange(before: string, after: string, columns: number): LineChange {
  const width = lineWidth(after);
  const widthBefore = lineWidth(before);
  // A shorter line is drawn anew from its first column. Erasing only its end leaves cells behind that tmux breaks into rows of their own.
  if (width < widthBefore || before === "" || !isPlain(before) || !isPlain(after)) {
    const { bytes, mayWrap } = drawing(after, columns);
    return { column: 0, bytes: (before === "" ? "" : ERASE_LINE) + bytes, mayWrap, end: width };
  }
  const start = sharedStart(before, after);
  const end = width === widthBefore ? after.length - sharedEnd(before, after, start) : after.length;
  const changed = after.slice(start, end);
  const column = visibleWidth(after.slice(0, start));
  return {
    column,
    bytes: stylesAt(after, start) + changed + closing(after, end),
    mayWrap: false,
    end: column + visibleWidth(changed),
  };
}

/** About how many bytes a change costs; cheap to ask. */
export function costOf(before: string, after: string): number {
  if (before === after) return 0;
  let i = 0;
  while (i < after.length && before[i] === after[i]) i++;
  return after.length - i + 12;
}

function sharedStart(before: string, after: string): number {
  let at = 0;
  while (at < after.length && before[at] === after[at]) at++;
  return boundaryBefore(before, boundaryBefore(after, at));
}

const joinsAt = (line: string, at: number): boolean => JOINS_THE_ONE_BEFORE.test(line.charAt(at));

/** The sequence that a place is in the middle of. */
function sequenceAround(line: string, at: number): { start: number; end: number } | undefined {
  const start = at > 0 ? line.lastIndexOf(ESCAPE, at - 1) : -1;
  if (start < 0) return undefined;
  STYLE.lastIndex = start;
  STYLE.exec(line);
  const end = STYLE.lastIndex;
  return end > at ? { start, end } : undefined;
}

/** Not in the middle of a sequence or of a character. */
function boundaryBefore(line: string, at: number): number {
  while (at > 0 && joinsAt(line, at)) at--;
  return sequenceAround(line, at)?.start ?? at;
}

/** The same, further on. */
function boundaryAfter(line: string, at: number): number {
  let to = sequenceAround(line, at)?.end ?? at;
  while (to < line.length && joinsAt(line, to)) to++;
  return to;
}

/** How long the same end is, if the same styles are on where it begins. */
function sharedEnd(before: string, after: string, start: number): number {
  const most = Math.min(before.length, after.length) - start;
  let shared = 0;
  while (shared < most && before[before.length - 1 - shared] === after[after.length - 1 - shared]) shared++;
  // What follows is the same in both: where it is whole in both, each run of marks was gone over once.
  const whole = (line: string) => line.length - boundaryAfter(line, line.length - shared);
  shared = Math.min(whole(before), whole(after));
  return stylesAt(before, before.length - shared) === stylesAt(after, after.length - shared) ? shared : 0;
}

const closing = (line: string, at: number): string => (stylesAt(line, at) === "" ? "" : "\u001b[m");

/** The sequence that turns on what is on there. */
function stylesAt(line: string, at: number): string {
  if (!line.includes(ESCAPE)) return "";
  const on = new Map<string, string>();
  for (const [sequence] of line.slice(0, at).matchAll(STYLES)) turn(on, sequence.slice(2, -1));
  return on.size === 0 ? "" : `\u001b[${[...on.values()].join(";")}m`;
}

/** Which code turns which kind of style off. */
const OFF: Record<string, string[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  25: ["blink"],
  27: ["inverse"],
  28: ["hidden"],
  29: ["struck"],
  39: ["colour"],
  49: ["ground"],
  55: ["over"],
  59: ["line colour"],
};
const ON: Record<string, string> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  5: "blink",
  6: "blink",
  7: "inverse",
  8: "hidden",
  9: "struck",
  21: "underline",
  38: "colour",
  48: "ground",
  53: "over",
  58: "line colour",
};

function turn(on: Map<string, string>, codes: string): void {
  const all = codes.split(";");
  for (let i = 0; i < all.length; i++) {
    const code = all[i]!;
    const [name = ""] = code.split(":");
    if (code === "" || code === "0" || code === "00") on.clear();
    else if (code === "4:0") on.delete("underline");
    else if (name in OFF) for (const kind of OFF[name]!) on.delete(kind);
    else if (/^(?:38|48|58)$/.test(code)) {
      const length = all[i + 1] === "5" ? 3 : 5;
      on.set(ON[code]!, all.slice(i, i + length).join(";"));
      i += length - 1;
    } else {
      const colour = /^(?:3|9)\d$/.test(name) ? "colour" : "ground";
      on.set(ON[name] ?? (/^(?:3|4|9|10)\d$/.test(name) ? colour : name), code);
    }
  }
}

/** Columns are counted from 1 there. */
export const toColumn = (column: number): string => (column === 0 ? "\r" : `\u001b[${column + 1}G`);
