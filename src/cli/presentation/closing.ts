// The last words of a run: which context it was, what it took, and what was refused with what would have allowed it.
import type { Refusal } from "./blocks.ts";
import { counted, duration, fitted } from "./format.ts";

export interface Closing {
  context: string;
  rounds: number;
  /** Tokens and cost; "" when there were none. */
  spent: string;
  ms: number;
  refusals: readonly Refusal[];
}

const MOST_NAMED = 3;

export function closingLines({ context, rounds, spent, ms, refusals }: Closing): string[] {
  const parts = [context, counted(rounds, "round"), ...(spent === "" ? [] : [spent]), duration(ms)];
  return [parts.join(" · "), ...refusedLines(refusals)];
}

function refusedLines(refusals: readonly Refusal[]): string[] {
  if (refusals.length === 0) return [];
  const named = refusals.slice(0, MOST_NAMED).map(({ call }) => fitted(`${call.tool} ${call.title}`.trimEnd(), 60));
  const more = refusals.length > MOST_NAMED ? [`${refusals.length - MOST_NAMED} more`] : [];
  const what = `${counted(refusals.length, "call")} ${refusals.length === 1 ? "was" : "were"} refused: ${[...named, ...more].join("; ")}`;
  const flags = [...new Set(refusals.flatMap((one) => one.flags))];
  return flags.length === 0 ? [what] : [what, `Nobody could be asked. To allow it, give: ${flags.join(" ")}`];
}
