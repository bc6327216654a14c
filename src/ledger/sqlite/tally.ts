// Tallies: one sum over all rows of a small table, so that a row that vanished is noticed too.
import { SUM_BYTES, sameBytes } from "../checksum.ts";
import type { Connection } from "./connection.ts";

export type Tallied = "wakes" | "leases";

/** One row's sum leaves, another's comes in. Contract: inside the transaction that changes the row. */
export function tally(db: Connection, table: Tallied, change: { out?: Uint8Array; in?: Uint8Array }): void {
  const sum = stored(db, table);
  if (change.out) mix(sum, change.out);
  if (change.in) mix(sum, change.in);
  db.run("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", table, sum);
}

export function tallies(db: Connection, table: Tallied): boolean {
  const sum = new Uint8Array(SUM_BYTES);
  for (const row of db.all<{ sum: Uint8Array }>(`SELECT sum FROM ${table}`)) mix(sum, row.sum);
  return sameBytes(sum, stored(db, table));
}

function stored(db: Connection, table: Tallied): Uint8Array {
  return (
    db.get<{ value: Uint8Array }>("SELECT value FROM meta WHERE name = ?", table)?.value ?? new Uint8Array(SUM_BYTES)
  );
}

function mix(into: Uint8Array, sum: Uint8Array): void {
  for (let i = 0; i < SUM_BYTES; i++) into[i]! ^= sum[i] ?? 0;
}
