// Where a tall paragraph can be cut in two while it grows, so that its upper lines are finished and its lower ones stay live.
import type { InlineMarkdown } from "./inline-markdown.ts";

/** So many lines of a block stay live; of a taller one the upper lines are given up. */
export const TALL = 12;
const KEPT_LIVE = 4;
/** A block so tall is cut also where its parts alone look a little different, as within a long bold sentence. */
const VERY_TALL = 40;
/** How many places are tried, one line apart. */
const TRIES = 5;

export type Cut =
  | { kind: "cut"; upper: string; lower: string }
  /** Not tall yet, or in no place: so many lines may still come before it is worth another look. */
  | { kind: "whole"; linesLeft: number };

/** Contract: nothing between the parts is lost but blanks; but for very tall ones the two look as the whole did. */
export function cutTall(source: string, inline: InlineMarkdown, width: number): Cut {
  const lines = inline(source, width);
  if (lines.length <= TALL) return { kind: "whole", linesLeft: TALL - lines.length };
  const most = lines.length - KEPT_LIVE;
  for (let count = most; count > most - TRIES; count--) {
    const cut = cutAfter(source, lines.slice(0, count));
    if (!cut) continue;
    const together = [...inline(cut.upper, width), ...inline(cut.lower, width)];
    if (together.length === lines.length && together.every((line, i) => line === lines[i])) return cut;
  }
  const anyway = lines.length > VERY_TALL ? cutAfter(source, lines.slice(0, most)) : undefined;
  return anyway ?? { kind: "whole", linesLeft: TALL };
}

/** How much of the source may be markup between two characters that are shown. */
const MOST_MARKUP = 400;

/** Follows what is shown through the source: what it steps over is markup. */
function cutAfter(source: string, lines: string[]): Extract<Cut, { kind: "cut" }> | undefined {
  let at = 0;
  for (const char of lines.join("").replace(/\u001b\[[\d;]*m|\s/g, "")) {
    const found = source.indexOf(char, at);
    if (found < 0 || found - at > MOST_MARKUP) return undefined;
    at = found + char.length;
  }
  // Marks that end right here belong to the upper part.
  const end = at + (/^[*_`~)\]]*(?=\s)/.exec(source.slice(at))?.[0].length ?? 0);
  const upper = source.slice(0, end);
  const lower = source.slice(end).trimStart();
  return lower === "" ? undefined : { kind: "cut", upper, lower };
}
