// Markdown line by line: which block a line belongs to, and which blocks it finishes. Nothing is read twice.
import { cellsOf, isDelimiterRow, type Table } from "./markdown-table.ts";

/** What is written before the lines of a block: bars of quotes, the mark of a list item and the room below it. */
interface Placed {
  first: string;
  rest: string;
  /** An empty line stands before it, with these bars. */
  gap?: string;
}

export type MarkdownBlock = Placed &
  (
    | { kind: "paragraph" | "heading"; source: string }
    | { kind: "fence"; source: string }
    | { kind: "code"; source: string }
    | { kind: "rule" }
    /** A tall table is not printed at once: its `beginning`, `rows`, its `end`. */
    | { kind: "table"; table: Table; part: "whole" | "beginning" | "rows" | "end" }
  );

type Container = { kind: "quote" } | { kind: "item"; indent: number; mark: string };

type Leaf =
  | { kind: "paragraph"; source: string }
  | { kind: "fence"; mark: string; indent: number }
  | { kind: "indented"; blanks: number }
  | { kind: "table"; table: Table };

/** Where the reading stands. Its parts are replaced, never changed: a copy of it is a copy of all. */
export interface MarkdownReading {
  containers: readonly Container[];
  /** Of how many of the innermost containers the mark is not written yet. */
  fresh: number;
  leaf?: Leaf;
  /** There was an empty line since the last block. */
  isApart: boolean;
  last?: { containers: readonly Container[]; isHeading: boolean };
  /** A part of this line is in the leaf already: the rest of it is text, whatever it begins with. */
  goesOn: boolean;
}

export const nothingRead: MarkdownReading = { containers: [], fresh: 0, isApart: false, goesOn: false };

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const UNDERLINE = /^ {0,3}(?:=+|-+) *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;

const indentOf = (line: string): number => line.length - line.trimStart().length;
const isBlank = (line: string): boolean => line.trim() === "";

/** One whole line. Gives where the reading stands after it; what it finishes is put into `out`. */
export function readLine(before: MarkdownReading, line: string, out: MarkdownBlock[]): MarkdownReading {
  const now = { ...before };
  if (now.goesOn) goOn(now, line, out);
  else
    take(
      now,
      line.replace(/^[ \t]+/, (blanks) => blanks.replaceAll("\t", "    ")),
      out,
    );
  return now;
}

/** The text is over, or is looked at as if it were. */
export function readEnd(before: MarkdownReading, out: MarkdownBlock[]): MarkdownReading {
  const now = { ...before };
  closeTo(now, 0, out);
  return now;
}

function goOn(now: MarkdownReading, line: string, out: MarkdownBlock[]): void {
  now.goesOn = false;
  if (now.leaf?.kind === "paragraph") now.leaf = { kind: "paragraph", source: now.leaf.source + line };
  else put(now, { kind: "code", source: line }, out);
}

function take(now: MarkdownReading, line: string, out: MarkdownBlock[]): void {
  const { depth, rest } = inside(now, line);
  const isWithin = depth === now.containers.length;
  if (now.leaf?.kind === "fence" && isWithin) takeFenced(now, rest, out);
  else if (isBlank(rest)) takeBlank(now, depth, out);
  else if (now.leaf?.kind === "indented" && isWithin && indentOf(rest) >= 4) takeIndented(now, rest, out);
  else takeText(now, { depth, rest }, out);
}

interface Inside {
  /** How many containers the line is in. */
  depth: number;
  /** What is left of the line there. */
  rest: string;
}

function takeText(now: MarkdownReading, line: Inside, out: MarkdownBlock[]): void {
  let { depth, rest } = line;
  let next = opens(now, line);
  if (!next && depth < now.containers.length && now.leaf?.kind === "paragraph" && !beginsBlock(rest)) {
    addToParagraph(now, now.leaf.source, rest);
    return;
  }
  if (next || depth < now.containers.length) closeTo(now, depth, out);
  while (next) {
    now.containers = [...now.containers, next.container];
    now.fresh += 1;
    rest = next.rest;
    depth += 1;
    next = opens(now, { depth, rest });
  }
  if (!isBlank(rest)) takeLeaf(now, rest, out);
}

function inside(now: MarkdownReading, line: string): Inside {
  let rest = line;
  let depth = 0;
  for (const [i, container] of now.containers.entries()) {
    if (container.kind === "quote") {
      const mark = QUOTE.exec(rest);
      if (!mark) break;
      rest = rest.slice(mark[0].length);
    } else if (!isBlank(rest)) {
      const indent = indentOf(rest);
      if (indent < container.indent) {
        // Models indent the items below `1.` by two, where three are asked for: then two are enough for this one.
        if (indent < 2 || !ITEM.test(rest)) break;
        now.containers = now.containers.with(i, { ...container, indent });
      }
      rest = rest.slice(Math.min(indent, container.indent));
    }
    depth += 1;
  }
  return { depth, rest };
}

function opens(
  now: MarkdownReading,
  { depth, rest: line }: Inside,
): { container: Container; rest: string } | undefined {
  const quote = QUOTE.exec(line);
  if (quote) return { container: { kind: "quote" }, rest: line.slice(quote[0].length) };
  const item = ITEM.exec(line);
  if (!item || RULE.test(line)) return undefined;
  const [all, before = "", mark = "", blanks = ""] = item;
  const rest = line.slice(all.length);
  const isNumber = /^\d/.test(mark);
  const isInParagraph = now.leaf?.kind === "paragraph" && depth === now.containers.length;
  if (isInParagraph && (rest === "" || (isNumber && Number.parseInt(mark, 10) !== 1))) return undefined;
  const room = rest === "" || blanks.length > 4 ? 1 : blanks.length;
  const indent = before.length + mark.length + room;
  const container: Container = { kind: "item", indent, mark: isNumber ? mark : "-" };
  return { container, rest: " ".repeat(Math.max(0, blanks.length - room)) + rest };
}

const beginsBlock = (line: string): boolean => FENCE.test(line) || HEADING.test(line) || RULE.test(line);

function takeFenced(now: MarkdownReading, line: string, out: MarkdownBlock[]): void {
  if (now.leaf?.kind !== "fence") return;
  const { mark, indent } = now.leaf;
  const closing = FENCE.exec(line);
  if (closing && closing[3]!.trim() === "" && closing[2]!.startsWith(mark)) {
    now.leaf = undefined;
    put(now, { kind: "fence", source: closing[2]! }, out);
  } else put(now, { kind: "code", source: line.slice(Math.min(indent, indentOf(line))) }, out);
}

function takeBlank(now: MarkdownReading, depth: number, out: MarkdownBlock[]): void {
  if (now.leaf?.kind === "indented") now.leaf = { kind: "indented", blanks: now.leaf.blanks + 1 };
  else closeLeaf(now, out);
  // An empty line is outside of a quote, and within a list item.
  if (depth < now.containers.length) closeTo(now, depth, out);
  now.isApart = true;
}

function takeIndented(now: MarkdownReading, line: string, out: MarkdownBlock[]): void {
  const blanks = now.leaf?.kind === "indented" ? now.leaf.blanks : 0;
  now.leaf = { kind: "indented", blanks: 0 };
  if (blanks > 0) now.isApart = false;
  for (let i = 0; i < blanks; i++) put(now, { kind: "code", source: "" }, out);
  put(now, { kind: "code", source: line.slice(4) }, out);
}

function takeLeaf(now: MarkdownReading, line: string, out: MarkdownBlock[]): void {
  const { leaf } = now;
  const fence = FENCE.exec(line);
  if (fence) {
    closeLeaf(now, out);
    put(now, { kind: "fence", source: fence[2]! + fence[3]! }, out);
    now.leaf = { kind: "fence", mark: fence[2]!, indent: fence[1]!.length };
  } else if (HEADING.test(line)) {
    closeLeaf(now, out);
    put(now, { kind: "heading", source: line.trim() }, out);
  } else if (leaf?.kind === "paragraph" && UNDERLINE.test(line)) {
    now.leaf = undefined;
    put(now, { kind: "heading", source: `${leaf.source}\n${line.trim()}` }, out);
  } else if (RULE.test(line)) {
    closeLeaf(now, out);
    put(now, { kind: "rule" }, out);
  } else if (leaf?.kind === "table") {
    now.leaf = { kind: "table", table: { ...leaf.table, rows: [...leaf.table.rows, cellsOf(line)] } };
  } else if (leaf?.kind === "paragraph") {
    if (!beginsTable(now, line, out)) addToParagraph(now, leaf.source, line);
  } else if (indentOf(line) >= 4) takeIndented(now, line, out);
  else now.leaf = { kind: "paragraph", source: line.trimStart() };
}

const addToParagraph = (now: MarkdownReading, source: string, line: string): void => {
  now.leaf = { kind: "paragraph", source: `${source}\n${line.trimStart()}` };
};

/** The last line of a paragraph was the head of a table when a row of dashes, of as many cells, comes below it. */
function beginsTable(now: MarkdownReading, line: string, out: MarkdownBlock[]): boolean {
  if (now.leaf?.kind !== "paragraph" || !isDelimiterRow(line)) return false;
  const { source } = now.leaf;
  const at = source.lastIndexOf("\n");
  const head = cellsOf(source.slice(at + 1));
  if (head.length !== cellsOf(line).length) return false;
  if (at >= 0) put(now, { kind: "paragraph", source: source.slice(0, at) }, out);
  now.leaf = { kind: "table", table: { head, rows: [] } };
  return true;
}

function closeLeaf(now: MarkdownReading, out: MarkdownBlock[]): void {
  const { leaf } = now;
  now.leaf = undefined;
  if (leaf?.kind === "paragraph") put(now, { kind: "paragraph", source: leaf.source }, out);
  if (leaf?.kind === "table")
    put(now, { kind: "table", table: leaf.table, part: leaf.table.begun ? "end" : "whole" }, out);
}

/** Only the outermost `depth` containers stay open. An item that stayed empty is still an item. */
function closeTo(now: MarkdownReading, depth: number, out: MarkdownBlock[]): void {
  closeLeaf(now, out);
  if (depth === now.containers.length) return;
  if (now.fresh > 0) put(now, { kind: "paragraph", source: "" }, out);
  now.containers = now.containers.slice(0, depth);
}

type Bare<B> = B extends MarkdownBlock ? Omit<B, keyof Placed> : never;

/** A block is finished here: it gets its place, and the marks before it are written. */
export function put(now: MarkdownReading, block: Bare<MarkdownBlock>, out: MarkdownBlock[]): void {
  const { containers, fresh, last, isApart } = now;
  const isHeading = block.kind === "heading";
  const written = containers.length - fresh;
  const first = containers.map((one, i) => (i < written ? roomOf(one) : markOf(one))).join("");
  const isGap = last !== undefined && (isApart || isHeading || last.isHeading);
  out.push({
    ...block,
    first,
    rest: containers.map(roomOf).join(""),
    ...(isGap && { gap: barsBetween(last.containers, containers) }),
  } as MarkdownBlock);
  now.fresh = 0;
  now.isApart = false;
  now.last = { containers, isHeading };
}

/** What stands before a line of the innermost container. */
export const placeOf = ({ containers }: MarkdownReading): string => containers.map(roomOf).join("");

const markOf = (one: Container): string => (one.kind === "quote" ? "│ " : `${one.mark} `);
const roomOf = (one: Container): string => (one.kind === "quote" ? "│ " : " ".repeat(one.mark.length + 1));

/** Bars go on between two blocks of the same quote. */
function barsBetween(before: readonly Container[], after: readonly Container[]): string {
  const shared = after.filter((one, i) => one === before[i]);
  return shared.map(roomOf).join("").trimEnd();
}
