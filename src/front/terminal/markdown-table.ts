// A Markdown table as lines: columns as wide as they must be, cells wrapped where the screen is narrow.

import type { Style } from "../presentation/style.ts";
import { lineWidth } from "./cells.ts";
import type { InlineMarkdown } from "./inline-markdown.ts";

export interface Table {
  head: string[];
  rows: string[][];
  /** It has begun to be printed: the head stands there, and its columns stay as they are. */
  begun?: TableLayout;
}

export type TableLayout =
  | { kind: "columns"; widths: number[]; isRuled: boolean }
  /** Too narrow for columns: a cell after the other. */
  | { kind: "cells" };

/** `| a | b |` or `a | b`; `\|` is a bar in a cell. */
export function cellsOf(line: string): string[] {
  const bare = line.trim().replace(/^\|/, "");
  const cells = bare.split(/(?<!\\)\|/);
  if (cells.length > 1 && cells.at(-1)!.trim() === "") cells.pop();
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

export const isDelimiterRow = (line: string): boolean =>
  line.includes("|") && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell));

export interface TablePrinter {
  layout(table: Table, width: number): TableLayout;
  /** The frame above, the head, and the line below it. */
  head(table: Table, layout: TableLayout, width: number): string[];
  /** `isFirst`: nothing stands between it and the head. */
  row(cells: string[], at: { layout: TableLayout; width: number; isFirst: boolean }): string[];
  foot(layout: TableLayout): string[];
}

/** A column narrower than this breaks nearly every word. */
const LEAST = 4;

export function createTablePrinter(style: Style, inline: InlineMarkdown): TablePrinter {
  const widest = (cell: string): number => Math.max(0, ...inline(cell, 10_000).map(lineWidth));
  const bar = style.dim("│");

  function row(cells: string[], widths: number[], isHead: boolean): string[] {
    const columns = widths.map((width, i) => inline(cells[i] ?? "", width));
    // What has no column is not lost: it goes into the last one.
    const extra = cells.slice(widths.length).join(" ");
    if (extra !== "") columns[widths.length - 1] = inline(`${cells[widths.length - 1]} ${extra}`, widths.at(-1)!);
    const height = Math.max(1, ...columns.map((lines) => lines.length));
    return Array.from({ length: height }, (_, i) => {
      const parts = columns.map((lines, c) => {
        const part = lines[i] ?? "";
        const blanks = " ".repeat(Math.max(0, widths[c]! - lineWidth(part)));
        return (isHead ? style.bold(part) : part) + blanks;
      });
      return `${bar} ${parts.join(` ${bar} `)} ${bar}`;
    });
  }

  const frame = (layout: TableLayout, [left, middle, right]: [string, string, string]): string[] =>
    layout.kind === "cells"
      ? []
      : [style.dim(`${left}─${layout.widths.map((width) => "─".repeat(width)).join(`─${middle}─`)}─${right}`)];

  const apart = (cells: string[], width: number): string[] => cells.flatMap((cell) => inline(cell, width));

  return {
    layout({ head, rows }, width) {
      const room = width - 3 * head.length - 1;
      if (room < head.length * LEAST) return { kind: "cells" };
      const natural = head.map((cell, i) => Math.max(1, widest(cell), ...rows.map((cells) => widest(cells[i] ?? ""))));
      const widths = fittedTo(natural, room);
      return { kind: "columns", widths, isRuled: rows.some((cells) => row(cells, widths, false).length > 1) };
    },
    head({ head }, layout, width) {
      if (layout.kind === "cells") return apart(head, width);
      return [...frame(layout, ["┌", "┬", "┐"]), ...row(head, layout.widths, true), ...frame(layout, ["├", "┼", "┤"])];
    },
    row(cells, { layout, width, isFirst }) {
      if (layout.kind === "cells") return apart(cells, width);
      return [
        ...(layout.isRuled && !isFirst ? frame(layout, ["├", "┼", "┤"]) : []),
        ...row(cells, layout.widths, false),
      ];
    },
    foot: (layout) => frame(layout, ["└", "┴", "┘"]),
  };
}

/** The widest columns give way first. */
function fittedTo(natural: number[], room: number): number[] {
  const widths = [...natural];
  for (let over = sum(widths) - room; over > 0; over = sum(widths) - room) {
    const most = Math.max(...widths);
    const next = Math.max(LEAST, ...widths.filter((width) => width < most));
    const wide = widths.flatMap((width, i) => (width === most ? [i] : []));
    const each = Math.max(1, Math.min(most - next, Math.floor(over / wide.length)));
    for (const i of wide.slice(0, over)) widths[i] = most - each;
  }
  return widths;
}

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);
