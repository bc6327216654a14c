// Owns the row of a lease: who holds it, under which epoch, until when.
import { digest, sameBytes } from "../checksum.ts";
import { HoldfastError } from "../error.ts";
import type { Holder } from "../store.ts";
import type { Connection } from "./connection.ts";
import { damaged } from "./rows.ts";
import { tally } from "./tally.ts";

export interface LeaseRow {
  name: string;
  epoch: number;
  holder: Holder | null;
  /** CLOCK_MONOTONIC of the holder's boot. */
  expiresAt: number;
  /** Counts takes and renewals: an observer on another machine sees by it that the holder lives. */
  renewals: number;
}

interface Stored {
  name: string;
  epoch: number;
  holder: string | null;
  expires_at: number;
  renewals: number;
  sum: Uint8Array;
}

export function leaseRow(db: Connection, name: string): LeaseRow | undefined {
  const row = db.get<Stored>("SELECT name, epoch, holder, expires_at, renewals, sum FROM leases WHERE name = ?", name);
  if (!row) return undefined;
  if (!intact(row)) throw damaged({ what: `the lease ${name} fails its checksum` });
  return {
    name,
    epoch: row.epoch,
    holder: row.holder === null ? null : JSON.parse(row.holder),
    expiresAt: row.expires_at,
    renewals: row.renewals,
  };
}

export function putLeaseRow(db: Connection, row: LeaseRow): void {
  const holder = row.holder === null ? null : JSON.stringify(row.holder);
  const sum = digest("lease", [row.name, row.epoch, holder, row.expiresAt, row.renewals]);
  const before = db.get<{ sum: Uint8Array }>("SELECT sum FROM leases WHERE name = ?", row.name);
  const sql =
    "INSERT OR REPLACE INTO leases (name, epoch, holder, expires_at, renewals, sum) VALUES (?, ?, ?, ?, ?, ?)";
  db.run(sql, row.name, row.epoch, holder, row.expiresAt, row.renewals, sum);
  tally(db, "leases", { out: before?.sum, in: sum });
}

/** Fencing. Contract: throws `fenced` unless the lease is held under this epoch. */
export function checkLease(db: Connection, lease: { name: string; epoch: number }): void {
  const row = leaseRow(db, lease.name);
  if (row?.epoch === lease.epoch && row.holder !== null) return;
  const released = row?.epoch === lease.epoch;
  const now = row ? `epoch ${row.epoch}${row.holder ? "" : ", released"}` : "not held";
  throw new HoldfastError(
    "fenced",
    `lease ${lease.name} is no longer held under epoch ${lease.epoch} (${now}): ${released ? "its host was closed" : "another host took over"}; stop`,
  );
}

export function damagedLeases(db: Connection): string[] {
  const rows = db.all<Stored>("SELECT name, epoch, holder, expires_at, renewals, sum FROM leases");
  return rows.filter((row) => !intact(row)).map((row) => row.name);
}

function intact(row: Stored): boolean {
  return sameBytes(row.sum, digest("lease", [row.name, row.epoch, row.holder, row.expires_at, row.renewals]));
}
