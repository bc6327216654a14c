// Which blobs each ledger names: recorded with its events, so that nobody has to search them.
import { SUM_BYTES, sameBytes } from "../checksum.ts";
import type { Connection } from "./connection.ts";
import type { LedgerRow } from "./rows.ts";

/**
 * The mark of a ledger: the chain hash of the last event whose references are recorded, then a sum over all of them. A mark of another
 * event, none, or a sum that is wrong (an older Holdfast wrote, a repair, damage) means: read the ledger again before relying on it.
 */
export type Mark = Uint8Array;

export function freshMark(hash: Uint8Array): Mark {
  const mark = new Uint8Array(2 * SUM_BYTES);
  mark.set(hash);
  return mark;
}

/** The ledger's own, where what is recorded reaches up to its last event. */
export function markOf({ refs, hash }: Pick<LedgerRow, "refs" | "hash">): Mark | undefined {
  return refs?.length === 2 * SUM_BYTES && sameBytes(refs.subarray(0, SUM_BYTES), hash) ? refs : undefined;
}

export const isUpToDate = (row: Pick<LedgerRow, "refs" | "hash">): boolean => markOf(row) !== undefined;

type Marked = Pick<LedgerRow, "n" | "hash" | "refs">;

/** Contract: inside the transaction that appends, for a ledger that was up to date; `advanceMark` after the last one. */
export function recordReference(db: Connection, { n, mark }: { n: number; mark: Mark }, hash: Uint8Array): void {
  if (putReference(db, n, hash)) mix(mark, hash);
}

/** What is recorded reaches up to the ledger's new hash. */
export function advanceMark(mark: Mark, hash: Uint8Array): void {
  mark.set(hash);
}

/** Replaces what is recorded of a ledger, after all of it was read. */
export function replaceReferences(db: Connection, row: LedgerRow, hashes: Iterable<Uint8Array>): void {
  db.run("DELETE FROM refs WHERE n = ?", row.n);
  const mark = freshMark(row.hash);
  for (const hash of hashes) if (putReference(db, row.n, hash)) mix(mark, hash);
  db.run("UPDATE ledgers SET refs = ? WHERE n = ?", mark, row.n);
}

export function referencesOf(db: Connection, n: number): Uint8Array[] {
  return db.all<{ hash: Uint8Array }>("SELECT hash FROM refs WHERE n = ?", n).map((row) => row.hash);
}

/** Does the sum of the mark say the same as the rows? */
export function referencesAddUp(db: Connection, { n, hash, refs }: Marked): boolean {
  const mark = freshMark(hash);
  for (const one of referencesOf(db, n)) mix(mark, one);
  return sameBytes(refs, mark);
}

function putReference(db: Connection, n: number, hash: Uint8Array): boolean {
  return db.run("INSERT INTO refs (n, hash) VALUES (?, ?) ON CONFLICT DO NOTHING", n, hash) > 0;
}

/** Every bit of the hash counts. */
function mix(mark: Mark, hash: Uint8Array): void {
  for (let i = 0; i < hash.length; i++) mark[SUM_BYTES + (i % SUM_BYTES)]! ^= hash[i]!;
}
