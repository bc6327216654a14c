// Lines made to fit: wrapped at words, or cut with a mark that something is left out; styles are closed in each.
import { truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";

/** Contract: no line is wider than the columns; what is wrapped goes on below, indented like the line that it belongs to. */
export function wrappedLines(lines: readonly string[], columns: number): string[] {
  return lines.flatMap((line) => {
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const room = Math.max(8, columns - Math.min(indent, 8));
    const [first = "", ...rest] = wrapTextWithAnsi(line.slice(indent), room);
    const margin = " ".repeat(Math.min(indent, 8));
    return [margin + first, ...rest.map((more) => margin + more)];
  });
}

export const fittedLine = (line: string, columns: number): string => truncateToWidth(line, columns, "…");
