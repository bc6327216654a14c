// Which stretches of a ledger make the timeline of now: a restore cuts out what lies between its position and itself.
import type { Seq } from "../ledger/store.ts";

/** The facts of `context.restored` that count for one part: where it stands and where it went back to. */
export interface Jump {
  seq: Seq;
  to: Seq;
}

/** From the first event to `upTo`: `[from, to]`, both included, in order. `jumps` in order of seq, those of one part only. */
export function visibleRanges(jumps: readonly Jump[], upTo: Seq): [Seq, Seq][] {
  const ranges: [Seq, Seq][] = [];
  for (let at = upTo; at > 0; ) {
    const jump = jumps.findLast((one) => one.seq <= at);
    if ((jump?.seq ?? 0) < at) ranges.unshift([(jump?.seq ?? 0) + 1, at]);
    at = jump?.to ?? 0;
  }
  return ranges;
}
