// Markdown as it streams: finished blocks are lines that never change, the block that is not finished is rendered for now.
import type { Style } from "../presentation/style.ts";
import { createBlockPrinter, tabless } from "./block-printer.ts";
import {
  type MarkdownBlock,
  type MarkdownReading,
  nothingRead,
  placeOf,
  put,
  readEnd,
  readLine,
} from "./markdown-blocks.ts";
import { rowsOf } from "./rows.ts";
import { cutTall, TALL } from "./tall-paragraph.ts";

export interface StreamedMarkdown {
  /** More of the text. Gives the lines that are finished by it: they never change again. */
  push(text: string): string[];
  /** What is not finished yet, as lines, for now. Costs as much as the current block is long. */
  live(): string[];
  /** The text is over: what was left. */
  end(): string[];
  /** From now on. What was finished stays as it is: it is the terminal's. */
  resize(columns: number): void;
}

export interface MarkdownLook {
  columns: number;
  style: Style;
}

/** The text comes from a model: control characters are none of it, nor are code points that no text has. */
const NO_TEXT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufdd0-\ufdef]/g;

/** May become anything: a heading, a rule, a fence, an item, a row of dashes. */
const UNDECIDED = /^[\s>]*(?:[-=*_+`~#|:\s]*|\d{1,9}[.)]?)\s*$/;

export function createStreamedMarkdown(look: MarkdownLook): StreamedMarkdown {
  let printer = createBlockPrinter(look);
  let reading: MarkdownReading = nothingRead;
  /** Of the line that has no end yet. */
  let partial = "";
  /** A paragraph that was too low to be cut, or could not be, is looked at again when it is so long. */
  let cutAgainAt = 0;
  let shown: string[] | undefined;

  function takeLine(line: string, out: MarkdownBlock[]): void {
    reading = readLine(reading, line, out);
    if (reading.leaf?.kind === "table") giveUpRows(out);
  }

  /** The columns of a tall table are settled by its first rows; from then on each row is finished as it comes. */
  function giveUpRows(out: MarkdownBlock[]): void {
    if (reading.leaf?.kind !== "table") return;
    const { table } = reading.leaf;
    if (table.rows.length === 0 || (!table.begun && table.rows.length <= TALL)) return;
    const begun = table.begun ?? printer.layout(table, printer.widthBehind(placeOf(reading)));
    const next: MarkdownReading = { ...reading, leaf: { kind: "table", table: { head: table.head, rows: [], begun } } };
    put(next, { kind: "table", table: { ...table, begun }, part: table.begun ? "rows" : "beginning" }, out);
    reading = next;
  }

  /** The line as far as it came, taken for a whole one. */
  function ahead(out: MarkdownBlock[]): MarkdownReading {
    return partial === "" ? { ...reading } : readLine(reading, partial, out);
  }

  /** The upper lines of a tall paragraph are finished. */
  function giveUpLines(out: MarkdownBlock[]): void {
    const open = reading.leaf?.kind === "paragraph" ? reading.leaf.source : "";
    const length = open.length + partial.length;
    const width = printer.widthBehind(placeOf(reading));
    const isLow = length * 2 < TALL * width && open.split("\n").length <= TALL;
    if (isLow) cutAgainAt = 0;
    if (isLow || length < cutAgainAt) return;
    const before: MarkdownBlock[] = [];
    const next = ahead(before);
    if (next.leaf?.kind !== "paragraph") return;
    const cut = cutTall(next.leaf.source, printer.inline, printer.widthBehind(placeOf(next)));
    cutAgainAt = cut.kind === "cut" ? 0 : length + (cut.linesLeft * width) / 2;
    if (cut.kind !== "cut") return;
    out.push(...before);
    put(next, { kind: "paragraph", source: cut.upper }, out);
    reading = { ...next, leaf: { kind: "paragraph", source: cut.lower }, goesOn: partial !== "" || reading.goesOn };
    partial = "";
  }

  /** The first rows of a line of code that is longer than the screen is high. */
  function giveUpCode(out: MarkdownBlock[]): void {
    const width = printer.widthBehind(placeOf(reading));
    if (partial.length < TALL * width) return;
    const before: MarkdownBlock[] = [];
    const next = ahead(before);
    const last = before.pop();
    if (last?.kind !== "code" || next.leaf?.kind !== reading.leaf?.kind) return;
    const rows = rowsOf(tabless(last.source), width);
    const rest = rows.pop() ?? "";
    if (rows.length === 0) return;
    out.push(...before, { ...last, source: rows.join("") });
    reading = { ...next, goesOn: true };
    partial = rest;
  }

  return {
    push(text) {
      shown = undefined;
      const out: MarkdownBlock[] = [];
      const lines = (partial + text.replace(NO_TEXT, "")).split("\n");
      partial = lines.pop() ?? "";
      for (const line of lines) takeLine(line, out);
      if (reading.leaf?.kind === "fence" || reading.leaf?.kind === "indented") giveUpCode(out);
      else giveUpLines(out);
      return out.flatMap(printer.print);
    },
    live() {
      if (shown) return shown;
      const out: MarkdownBlock[] = [];
      const isHeld = !reading.goesOn && UNDECIDED.test(partial);
      readEnd(isHeld ? reading : ahead(out), out);
      shown = out.flatMap(printer.print);
      return shown;
    },
    end() {
      const out: MarkdownBlock[] = [];
      readEnd(ahead(out), out);
      [reading, partial, cutAgainAt, shown] = [nothingRead, "", 0, undefined];
      return out.flatMap(printer.print);
    },
    resize(columns) {
      shown = undefined;
      cutAgainAt = 0;
      printer = createBlockPrinter({ ...look, columns });
      if (reading.leaf?.kind !== "table" || !reading.leaf.table.begun) return;
      const { table } = reading.leaf;
      const begun = printer.layout(table, printer.widthBehind(placeOf(reading)));
      reading = { ...reading, leaf: { kind: "table", table: { ...table, begun } } };
    },
  };
}

/** A whole text. */
export function markdownLines(text: string, look: MarkdownLook): string[] {
  const printer = createBlockPrinter(look);
  const out: MarkdownBlock[] = [];
  let reading = nothingRead;
  const lines = text.replace(NO_TEXT, "").split("\n");
  for (const line of lines) reading = readLine(reading, line, out);
  readEnd(reading, out);
  return out.flatMap(printer.print);
}
