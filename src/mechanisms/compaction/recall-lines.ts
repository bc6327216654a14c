// Some lines of a text, so that any part of it can be had.
import type { RecallRange } from "../../contexts/recall.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { cutText } from "../../text/cut.ts";

/** A longer line counts as several: what stands in its middle can be had too. */
const LONGEST_LINE = 5_000;

/** `of`: how many there are. Contract: throws `not_found` behind the last one. */
export function cutLines(
  text: string,
  { offset = 1, limit }: RecallRange,
  ref: string,
): { text: string; from: number; to: number; of: number } {
  const all = text.split("\n").flatMap(pieces);
  if (offset > all.length) throw new HoldfastError("not_found", `${ref} has only ${all.length} lines`);
  const to = Math.min(all.length, limit === undefined ? all.length : offset - 1 + limit);
  return { text: all.slice(offset - 1, to).join("\n"), from: offset, to, of: all.length };
}

function pieces(line: string): string[] {
  if (line.length <= LONGEST_LINE) return [line];
  const found: string[] = [];
  for (let rest = line; rest !== ""; rest = rest.slice(found.at(-1)?.length)) found.push(cutText(rest, LONGEST_LINE));
  return found;
}

/** The number of the line in which that place stands, as `cutLines` counts them. */
export function lineAt(text: string, index: number): number {
  const start = text.lastIndexOf("\n", index - 1) + 1;
  const before = index === 0 ? 0 : text.slice(0, start).split("\n").slice(0, -1).flatMap(pieces).length;
  const end = text.indexOf("\n", index);
  let left = index - start;
  let line = before + 1;
  for (const piece of pieces(text.slice(start, end < 0 ? text.length : end))) {
    if (left < piece.length) break;
    left -= piece.length;
    line++;
  }
  return line;
}
