// The row of a lease: who holds it, under which term and token, until when.
import { digest, sameBytes } from "../checksum.ts";
import { HoldfastError } from "../error.ts";
import { isRecord } from "../guards.ts";
import { holderIn } from "../holder.ts";
import type { LeaseRow, LeaseRows } from "../leases.ts";
import type { Fence } from "../store.ts";
import type { Connection } from "./connection.ts";
import { damaged } from "./rows.ts";
import { tally } from "./tally.ts";

interface Stored {
  name: string;
  /** The term. The column has the name that older Holdfasts read. */
  epoch: number;
  /** JSON: the holder with its token, which stands here so that older Holdfasts can read the row. */
  holder: string | null;
  expires_at: number;
  renewals: number;
  sum: Uint8Array;
}

/** A lease that an older Holdfast holds has no token. */
const NO_TOKEN = "";

export function leaseRows(db: Connection): LeaseRows {
  return {
    read: (name) => db.read(() => leaseRow(db, name)),
    change: (name, decide) =>
      db.write(() => {
        const next = decide(leaseRow(db, name));
        if (next) putLeaseRow(db, next);
        return next !== undefined;
      }),
  };
}

const COLUMNS = "name, epoch, holder, expires_at, renewals, sum";

export function leaseRow(db: Connection, name: string): LeaseRow | undefined {
  const row = db.get<Stored>(`SELECT ${COLUMNS} FROM leases WHERE name = ?`, name);
  return row && toLeaseRow(row);
}

/** Those whose name begins so. */
export function leaseRowsOf(db: Connection, prefix: string): LeaseRow[] {
  return storedOf(db, prefix).map(toLeaseRow);
}

/** Contract: inside a transaction that knows that nobody holds one of them. */
export function dropLeaseRows(db: Connection, prefix: string): void {
  for (const { name, sum } of storedOf(db, prefix)) {
    db.run("DELETE FROM leases WHERE name = ?", name);
    tally(db, "leases", { out: sum });
  }
}

function storedOf(db: Connection, prefix: string): Stored[] {
  const rows = db.all<Stored>(
    `SELECT ${COLUMNS} FROM leases WHERE name >= ? AND name < ?`,
    prefix,
    `${prefix}\u{10ffff}`,
  );
  return rows.filter(({ name }) => name.startsWith(prefix));
}

function toLeaseRow(row: Stored): LeaseRow {
  const { name } = row;
  if (!intact(row)) throw damaged({ what: `the lease ${name} fails its checksum` });
  const stored: unknown = JSON.parse(row.holder ?? "{}");
  const token = isRecord(stored) && typeof stored.token === "string" ? stored.token : NO_TOKEN;
  const holder = row.holder === null ? null : holderIn(stored);
  if (holder === undefined) throw damaged({ what: `the lease ${name} names no process` });
  return {
    name,
    term: row.epoch,
    token,
    holder,
    expiresAt: row.expires_at,
    renewals: row.renewals,
  };
}

export function putLeaseRow(db: Connection, row: LeaseRow): void {
  const holder = row.holder === null ? null : JSON.stringify({ ...row.holder, token: row.token });
  const sum = digest("lease", [row.name, row.term, holder, row.expiresAt, row.renewals]);
  const before = db.get<{ sum: Uint8Array }>("SELECT sum FROM leases WHERE name = ?", row.name);
  const sql =
    "INSERT OR REPLACE INTO leases (name, epoch, holder, expires_at, renewals, sum) VALUES (?, ?, ?, ?, ?, ?)";
  db.run(sql, row.name, row.term, holder, row.expiresAt, row.renewals, sum);
  tally(db, "leases", { out: before?.sum, in: sum });
}

/** Fencing. Contract: throws `fenced` unless the lease is held under this term and token. */
export function checkLease(db: Connection, { name, term, token }: Fence): void {
  const row = leaseRow(db, name);
  if (row?.holder && row.term === term && row.token === token) return;
  throw new HoldfastError(
    "fenced",
    `lease ${name} is no longer held under term ${term} (${standing(row, term)}): ${row?.term === term && row.token === token ? "its host was closed" : "another host took over"}; stop`,
  );
}

function standing(row: LeaseRow | undefined, term: number): string {
  if (!row) return "not held";
  if (!row.holder) return `term ${row.term}, released`;
  return row.term === term ? "the same term, given to another" : `term ${row.term}`;
}

export function damagedLeases(db: Connection): string[] {
  const rows = db.all<Stored>(`SELECT ${COLUMNS} FROM leases`);
  return rows.filter((row) => !intact(row)).map((row) => row.name);
}

function intact(row: Stored): boolean {
  return sameBytes(row.sum, digest("lease", [row.name, row.epoch, row.holder, row.expires_at, row.renewals]));
}
