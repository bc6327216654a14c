// The chain of a salvaged ledger: which of all the rows that were found are it, in order, and where it breaks.
import { eventSum, genesis, type Row, sameBytes } from "./checksum.ts";
import type { CopiedSummary } from "./sqlite/copy-lines.ts";
import type { LedgerRow } from "./sqlite/rows.ts";
import type { Head } from "./sqlite/sidecar.ts";
import type { Damage, Seq } from "./store.ts";

export interface SalvagedLedger {
  n: number;
  name: string;
  /** Where it should end, as far as anything still says. */
  head: Seq;
  /** The unbroken chain from the first event on. */
  rows: Row[];
  /** How many of them, from the first on, the pages hold themselves. */
  inPages: number;
  /** What was found behind the break; each of these follows its predecessor, or has none left. */
  behind: Row[];
  /** JSON text: by its entry in the list of ledgers, or by its second copy where that is newer. */
  summary: string;
  /** Its entry in the list of ledgers, where one verifies. */
  entry?: LedgerRow;
  damage?: Damage;
}

/** Everything that was found, by the number of its ledger; nothing of it is proven yet but the entries. */
export interface Evidence {
  events: Map<number, Map<Seq, Row[]>>;
  /** Those of the pages first. */
  names: Map<number, Set<string>>;
  entries: Map<number, LedgerRow>;
  /** Rows that no page holds, only the second copy. */
  copied: Set<Row>;
  summaries: Map<number, CopiedSummary[]>;
}

interface Known {
  seq: Seq;
  sum: Uint8Array;
}

/** What ledger n is: its entry and the sidecar say its name and a head; without them the first name that proves anything. */
export function chain(n: number, found: Evidence, head: Head | undefined): SalvagedLedger | undefined {
  const events = found.events.get(n) ?? new Map<Seq, Row[]>();
  const entry = found.entries.get(n);
  const sure = entry?.name ?? head?.name;
  const names = sure === undefined ? [...ledgerNameOf(found, n)] : [sure];
  const name = names.find((one) => next(events, genesis(n, one), 1).length > 0) ?? names[0] ?? `unknown-${n}`;
  const heads = [...(head ? [head] : []), ...(entry ? [{ seq: entry.head, sum: entry.hash }] : [])];
  const rows = best(follow(events, genesis(n, name), 0), heads);
  const should = Math.max(head?.seq ?? 0, entry?.head ?? 0, rows.length);
  const behind = behindBreak(events, rows.length);
  // Nothing proves that rows without a name, a head and a chain ever belonged to a ledger.
  if (rows.length === 0 && !entry && !head && behind.length === 0) return undefined;
  const lost = should > rows.length || (!entry && !head && behind.length > 0);
  return {
    n,
    name,
    head: should,
    rows,
    inPages: (rows.findIndex((row) => found.copied.has(row)) + 1 || rows.length + 1) - 1,
    behind: lost ? behind : [],
    summary: summaryOf(entry, found.summaries.get(n) ?? [], { rows, heads }),
    ...(entry && { entry }),
    ...(lost && { damage: { ledger: name, seq: rows.length + 1, what: "the event is missing or fails its checksum" } }),
  };
}

export function ledgerNameOf(found: Evidence, n: number): Set<string> {
  const names = found.names.get(n) ?? new Set<string>();
  found.names.set(n, names);
  return names;
}

/** The chain that passes through a known head, the first of them rather than a later one; else the longest. */
function best(chains: Iterable<Row[]>, heads: Known[]): Row[] {
  const passes = (rows: Row[], { seq, sum }: Known) => seq === 0 || sameBytes(rows[seq - 1]?.sum, sum);
  const rank = (rows: Row[]) => heads.toReversed().findLastIndex((one) => passes(rows, one));
  let rows: Row[] = [];
  for (const one of chains) {
    const better = rank(one) - rank(rows);
    if (better > 0 || (better === 0 && one.length > rows.length)) rows = one;
  }
  // Behind the last head that it passes it may be of a time that was taken back, or was never committed: then another head says so.
  const sure = Math.max(0, ...heads.filter((one) => passes(rows, one)).map((one) => one.seq));
  const denied = heads.filter((one) => one.seq > sure && !passes(rows, one)).map((one) => one.seq);
  return rows.slice(0, Math.min(rows.length, ...denied.map((seq) => seq - 1)));
}

/** The newest of those that are of this chain: a time that was taken back left others. */
function summaryOf(
  entry: LedgerRow | undefined,
  copied: CopiedSummary[],
  { rows, heads }: { rows: Row[]; heads: Known[] },
): string {
  let newest = entry && { of: entry.head, at: entry.updated_at, text: entry.summary };
  for (const one of copied) {
    const sum = rows[one.of - 1]?.sum ?? heads.find((head) => head.seq === one.of)?.sum;
    const ours = sameBytes(sum, one.sum);
    if (ours && (!newest || one.of > newest.of || (one.of === newest.of && one.at >= newest.at))) newest = one;
  }
  return newest?.text ?? "null";
}

function* follow(events: Map<Seq, Row[]>, previous: Uint8Array, after: Seq): Generator<Row[]> {
  const rows: Row[] = [];
  for (let seq = after + 1; ; seq++) {
    const found = next(events, previous, seq);
    const [first] = found;
    if (!first) break;
    if (found.length > 1) {
      // A write that never was committed, or that was taken back, left its traces beside the one that was.
      for (const one of found) for (const tail of follow(events, one.sum, seq)) yield [...rows, one, ...tail];
      return;
    }
    rows.push(first);
    previous = first.sum;
  }
  yield rows;
}

/** What follows there by its checksum. Of several with the same one each is as good: their texts are one in UTF-8. */
function next(events: Map<Seq, Row[]>, previous: Uint8Array, seq: Seq): Row[] {
  const proven = (events.get(seq) ?? []).filter((row) => sameBytes(row.sum, eventSum(previous, row)));
  return proven.filter((row, i) => proven.findIndex((other) => sameBytes(other.sum, row.sum)) === i);
}

function behindBreak(events: Map<Seq, Row[]>, after: Seq): Row[] {
  const rows: Row[] = [];
  for (const [seq, candidates] of [...events].filter(([one]) => one > after).sort(([a], [b]) => a - b)) {
    const before = rows.at(-1);
    const proven =
      before?.seq === seq - 1 ? candidates.find((row) => sameBytes(row.sum, eventSum(before.sum, row))) : undefined;
    rows.push(...(proven ? [proven] : candidates.slice(0, 1)));
  }
  return rows;
}
