// What was acknowledged compared with what is there afterwards.
import type { RunningChild } from "./machines.ts";

/** One line of a child that says what a store answered. */
export interface Acknowledged {
  ledger: string;
  id: string;
  seq: number;
  term?: number;
  token?: string;
}

export interface Kept {
  ledger: string;
  id: string;
  seq: number;
  data: { term?: number; token?: string };
}

export interface Comparison {
  acknowledged: number;
  /** Acknowledged, and not there. */
  lost: number;
  /** There, at another place than was said. */
  moved: number;
  /** Ids that are there more than once. */
  doubled: number;
  /** Places in a ledger that two different events were told they have. */
  givenTwice: number;
  /** Terms of the lease under which two different holders were told that they wrote. */
  termsTwice: number;
  /** Terms that two different holders' events stand under. */
  termsKeptTwice: number;
}

const isAcknowledged = (line: object): line is Acknowledged => "id" in line && "seq" in line;

export const acknowledgedBy = (children: readonly RunningChild[]): Acknowledged[] =>
  children.flatMap((child) => child.lines.filter(isAcknowledged));

export function compare(said: readonly Acknowledged[], kept: readonly Kept[]): Comparison {
  const placeOf = new Map(kept.map((one) => [`${one.ledger} ${one.id}`, one.seq]));
  const found = said.map((one) => ({ seq: one.seq, at: placeOf.get(`${one.ledger} ${one.id}`) }));
  const held = kept.flatMap(({ data: { term, token } }) => (term === undefined ? [] : [{ term, token }]));
  return {
    acknowledged: said.length,
    lost: found.filter(({ at }) => at === undefined).length,
    moved: found.filter(({ at, seq }) => at !== undefined && at !== seq).length,
    doubled: kept.length - placeOf.size,
    givenTwice: keysWithTwo(said, (one) => [`${one.ledger} ${one.seq}`, one.id]),
    termsTwice: keysWithTwo(
      said.filter((one) => one.term !== undefined),
      (one) => [String(one.term), String(one.token)],
    ),
    termsKeptTwice: keysWithTwo(held, (one) => [String(one.term), String(one.token)]),
  };
}

/** Keys that come with more than one value. */
function keysWithTwo<T>(all: readonly T[], pairOf: (one: T) => [key: string, value: string]): number {
  const values = new Map<string, Set<string>>();
  for (const one of all) {
    const [key, value] = pairOf(one);
    values.set(key, (values.get(key) ?? new Set()).add(value));
  }
  return [...values.values()].filter((some) => some.size > 1).length;
}
