// A conversation as rounds: what was said, the reply to it, and the results of its calls. What came after the last reply belongs to a round that is not there yet.
import type { CallPart, Item } from "../../models/model.ts";

export interface Round {
  /** The number of its reply. */
  n: number;
  items: readonly Item[];
}

export interface Rounds {
  rounds: Round[];
  /** What no reply has answered: inputs and notes behind the last round. */
  rest: readonly Item[];
}

export function roundsOf(items: readonly Item[]): Rounds {
  const rounds: Round[] = [];
  let from = 0;
  let n: number | undefined;
  items.forEach((item, at) => {
    const begins = item.kind === "reply" || (item.kind === "user" && n !== undefined);
    if (begins && n !== undefined) {
      rounds.push({ n, items: items.slice(from, at) });
      from = at;
      n = undefined;
    }
    if (item.kind === "reply") n = item.n ?? 0;
  });
  if (n === undefined) return { rounds, rest: items.slice(from) };
  rounds.push({ n, items: items.slice(from) });
  return { rounds, rest: [] };
}

/** By id. */
export function callsIn(items: readonly Item[]): Map<string, CallPart> {
  const calls = new Map<string, CallPart>();
  for (const item of items)
    if (item.kind === "reply") for (const part of item.parts) if (part.type === "call") calls.set(part.id, part);
  return calls;
}
