// What of a mechanism does not follow from the ledger: for a replay, which takes that from the recording and computes all else anew.
import type { Seams } from "./seams.ts";

/** Where a mechanism is asked: the seams, and what it does besides them. */
export type AskedAt = keyof Seams | "start" | "beforeEffect" | "refused" | "announced";

/** Contract: whatever is not named here is the same for the same facts and the same `settings`. */
export interface Outside {
  /** Its answer there rests on files, processes, other ledgers or the clock. */
  at?: readonly AskedAt[];
  /** Whom the notes are from that it brings by such an answer; `ORIGIN/KIND` for those of one kind. */
  notes?: readonly string[];
  /** Facts that come by themselves, or by what happened outside. */
  facts?: readonly string[];
  /** Tools whose being there, and whose description, rests on the outside; `NAME*`: all that begin so. */
  tools?: readonly string[];
}

export const isNamed = (names: readonly string[], name: string): boolean =>
  names.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : one === name));
