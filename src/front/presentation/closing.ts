// The last words of a run: which context it was, what it took, and what was refused with what would have allowed it.

import { fitted } from "../../text/columns.ts";
import { counted } from "../../text/counted.ts";
import type { Advice, Refusal } from "./blocks.ts";
import { duration } from "./format.ts";

export interface Closing {
  context: string;
  rounds: number;
  /** Tokens and cost; "" when there were none. */
  spent: string;
  ms: number;
  refusals: readonly Refusal[];
  /** The turn came to nothing by them. */
  changedNothing: boolean;
}

const MOST_NAMED = 3;

export function closingLines({ context, rounds, spent, ms, refusals, changedNothing }: Closing): string[] {
  const parts = [context, counted(rounds, "round"), ...(spent === "" ? [] : [spent]), duration(ms)];
  return [parts.join(" · "), ...refusedLines(refusals, changedNothing)];
}

function refusedLines(refusals: readonly Refusal[], changedNothing: boolean): string[] {
  if (refusals.length === 0) return [];
  const named = refusals.slice(0, MOST_NAMED).map(({ call }) => fitted(`${call.tool} ${call.title}`.trimEnd(), 60));
  const more = refusals.length > MOST_NAMED ? [`${refusals.length - MOST_NAMED} more`] : [];
  const many = `${counted(refusals.length, "call")} ${refusals.length === 1 ? "was" : "were"} refused`;
  const what = `${many}${changedNothing ? ", and nothing was changed" : ""}: ${[...named, ...more].join("; ")}`;
  return [what, ...adviceLines(refusals)];
}

/** Only where nobody could be asked: no flag undoes what a rule, a hook or a person refused. */
export function adviceLines(refused: readonly Advice[]): string[] {
  if (!refused.some((one) => one.unanswered)) return [];
  const flags = [...new Set(refused.flatMap((one) => one.flags))];
  if (flags.length === 0)
    return ["Nobody could be asked, and only a person can allow it: give --approvals wait to be asked"];
  return [`Nobody could be asked: to allow it, give: ${flags.join(" ")}; to be asked: --approvals wait`];
}
