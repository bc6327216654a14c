// A finished block of Markdown as lines: what stands before them, the wrapping, the styles.

import type { Style } from "../presentation/style.ts";
import { createInlineMarkdown, type InlineMarkdown } from "./inline-markdown.ts";
import type { MarkdownBlock } from "./markdown-blocks.ts";
import { createTablePrinter, type TableLayout } from "./markdown-table.ts";
import { rowsOf } from "./rows.ts";

export interface BlockPrinter {
  print(block: MarkdownBlock): string[];
  /** How many columns are left behind what stands before a line. */
  widthBehind(place: string): number;
  inline: InlineMarkdown;
  layout(table: { head: string[]; rows: string[][] }, width: number): TableLayout;
}

/** A rule is a mark, not a frame: a long line would break in two when the terminal gets narrower. */
const RULE_COLUMNS = 40;

export const tabless = (code: string): string => code.replaceAll("\t", "    ");

export function createBlockPrinter(opts: { columns: number; style: Style }): BlockPrinter {
  const { style } = opts;
  const columns = Math.max(4, opts.columns);
  const inline = createInlineMarkdown(style);
  const tables = createTablePrinter(style, inline);
  /** Deep nesting on a narrow screen: the text keeps half of it. */
  const cut = (place: string): string => place.slice(0, Math.floor(columns / 2));
  const widthBehind = (place: string): number => columns - cut(place).length;
  const drawn = (place: string): string => cut(place).replaceAll("│", style.dim("│"));

  function linesOf(block: MarkdownBlock): string[] {
    const width = widthBehind(block.rest);
    const wrapped = (source: string, paint: (row: string) => string) =>
      rowsOf(source, width).map((row) => (row === "" ? "" : paint(row)));
    switch (block.kind) {
      case "paragraph":
      case "heading":
        return block.source === "" ? [""] : inline(block.source, width);
      case "fence":
        return wrapped(block.source, style.dim);
      case "code":
        return wrapped(tabless(block.source), style.cyan);
      case "rule":
        return [style.dim("─".repeat(Math.min(width, RULE_COLUMNS)))];
      case "table":
        return tableLines(block, width);
    }
  }

  function tableLines({ table, part }: MarkdownBlock & { kind: "table" }, width: number): string[] {
    const layout = table.begun ?? tables.layout(table, width);
    const isNew = part === "whole" || part === "beginning";
    return [
      ...(isNew ? tables.head(table, layout, width) : []),
      ...table.rows.flatMap((cells, i) => tables.row(cells, { layout, width, isFirst: isNew && i === 0 })),
      ...(part === "whole" || part === "end" ? tables.foot(layout) : []),
    ];
  }

  return {
    inline,
    widthBehind,
    layout: tables.layout,
    print(block) {
      const lines = linesOf(block).map((line, i) => (drawn(i === 0 ? block.first : block.rest) + line).trimEnd());
      return block.gap === undefined ? lines : [drawn(block.gap), ...lines];
    },
  };
}
