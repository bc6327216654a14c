// The rows of `ledgers` and `events`: how they are read, written, checked, and turned into events.
import { digest, eventSum, genesis, hex, type Row, sameBytes } from "../checksum.ts";
import { HoldfastError } from "../error.ts";
import type { Damage, EventInput, Seq, StoredEvent } from "../store.ts";
import type { Connection } from "./connection.ts";
import { KEY_SPAN } from "./schema.ts";

export interface LedgerRow {
  n: number;
  name: string;
  head: Seq;
  hash: Uint8Array;
  created_at: number;
  updated_at: number;
  /** JSON text. */
  summary: string;
  min_writer: number;
  removed: number;
  /** Up to where its references to blobs are recorded (`references.ts`). Not part of the sum: it proves itself. Read only where it is needed. */
  refs?: Uint8Array | null;
  sum: Uint8Array;
}

/** Without the sum: that is made where it is written. */
export type LedgerEntry = Omit<LedgerRow, "sum">;

const LEDGER_COLUMNS = "n, name, head, hash, created_at, updated_at, summary, min_writer, removed, sum";
const WITH_REFERENCES = `${LEDGER_COLUMNS}, refs`;

export function ledgerSum(row: Omit<LedgerRow, "refs" | "sum">): Uint8Array {
  const { n, name, head, hash, created_at, updated_at, summary, min_writer, removed } = row;
  return digest("row", [n, name, head, hex(hash), created_at, updated_at, summary, min_writer, removed]);
}

/** Contract: throws `damaged` when the row does not verify. `references` needs a file of this version. */
export function ledgerRow(db: Connection, name: string, opts: { references?: boolean } = {}): LedgerRow | undefined {
  const columns = opts.references ? WITH_REFERENCES : LEDGER_COLUMNS;
  const row = db.get<LedgerRow>(`SELECT ${columns} FROM ledgers WHERE name = ? AND removed = 0`, name);
  if (row && !sameBytes(row.sum, ledgerSum(row)))
    throw damaged({ ledger: name, what: "its entry in the list of ledgers fails its checksum" });
  return row;
}

export function allLedgerRows(db: Connection, opts: { references?: boolean } = {}): LedgerRow[] {
  return db.all<LedgerRow>(`SELECT ${opts.references ? WITH_REFERENCES : LEDGER_COLUMNS} FROM ledgers ORDER BY n`);
}

/** Those that are there, by name. Contract: throws `damaged` when one of them does not verify. */
export function ledgerPage(db: Connection, page: { from: string; after: string; limit: number }): LedgerRow[] {
  const sql = `SELECT ${LEDGER_COLUMNS} FROM ledgers WHERE removed = 0 AND name >= ? AND name > ? ORDER BY name LIMIT ?`;
  const rows = db.all<LedgerRow>(sql, page.from, page.after, page.limit);
  const bad = rows.find((row) => !sameBytes(row.sum, ledgerSum(row)));
  if (bad) throw damaged({ ledger: bad.name, what: "its entry in the list of ledgers fails its checksum" });
  return rows;
}

export function putLedgerRow(db: Connection, row: LedgerEntry): void {
  const sql = `INSERT OR REPLACE INTO ledgers (${WITH_REFERENCES}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const { n, name, head, hash, created_at, updated_at, summary, min_writer, removed, refs = null } = row;
  db.run(sql, n, name, head, hash, created_at, updated_at, summary, min_writer, removed, ledgerSum(row), refs);
}

export function updateLedgerRow(db: Connection, row: LedgerEntry): void {
  const sql =
    "UPDATE ledgers SET head = ?, hash = ?, created_at = ?, updated_at = ?, summary = ?, min_writer = ?, refs = ?, sum = ? WHERE n = ?";
  const { head, hash, created_at, updated_at, summary, min_writer, refs = null } = row;
  db.run(sql, head, hash, created_at, updated_at, summary, min_writer, refs, ledgerSum(row), row.n);
}

export function putEventRow(db: Connection, ledger: { n: number; name: string }, row: Row): void {
  const name = row.seq === 1 ? ledger.name : null;
  const sql =
    "INSERT INTO events (key, name, id, at, type, v, actor, touches, data, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  const key = ledger.n * KEY_SPAN + row.seq;
  db.run(sql, key, name, row.id, row.at, row.type, row.v, row.actor, row.touches, row.data, row.sum);
}

/** Rows with from ≤ seq ≤ to, at most `limit`. */
export function eventRows(db: Connection, n: number, range: { from: Seq; to: Seq; limit: number }): Row[] {
  const sql =
    "SELECT key, id, at, type, v, actor, touches, data, sum FROM events WHERE key >= ? AND key <= ? ORDER BY key LIMIT ?";
  const base = n * KEY_SPAN;
  const rows = db.all<Row & { key: number }>(sql, base + range.from, base + range.to, range.limit);
  for (const row of rows) row.seq = row.key - base;
  return rows;
}

export function sumAt(db: Connection, ledger: { n: number; name: string }, seq: Seq): Uint8Array | undefined {
  if (seq === 0) return genesis(ledger.n, ledger.name);
  return db.get<{ sum: Uint8Array }>("SELECT sum FROM events WHERE key = ?", ledger.n * KEY_SPAN + seq)?.sum;
}

export function rowById(db: Connection, n: number, id: string): Row | undefined {
  const sql = "SELECT key, id, at, type, v, actor, touches, data, sum FROM events WHERE key >> 32 = ? AND id = ?";
  const row = db.get<Row & { key: number }>(sql, n, id);
  if (row) row.seq = row.key - n * KEY_SPAN;
  return row;
}

export function entityVersion(db: Connection, n: number, entity: string): Seq {
  return db.get<{ version: Seq }>("SELECT version FROM entities WHERE n = ? AND entity = ?", n, entity)?.version ?? 0;
}

/** Does the event at that version say so? */
export function touchedAt(db: Connection, n: number, { entity, version }: { entity: string; version: Seq }): boolean {
  if (version === 0) return true;
  const row = db.get<{ touches: string | null }>("SELECT touches FROM events WHERE key = ?", n * KEY_SPAN + version);
  return row !== undefined && touchesOf(row).includes(entity);
}

/** Leaves a tombstone, so that its head is not missed. Blobs stay: other ledgers may refer to them. */
export function removeLedgerRows(db: Connection, ledger: string): LedgerRow | undefined {
  const row = ledgerRow(db, ledger);
  if (!row) return undefined;
  db.run("DELETE FROM events WHERE key > ? AND key < ?", row.n * KEY_SPAN, (row.n + 1) * KEY_SPAN);
  db.run("DELETE FROM entities WHERE n = ?", row.n);
  db.run("DELETE FROM snapshots WHERE n = ?", row.n);
  db.run("DELETE FROM refs WHERE n = ?", row.n);
  const tombstone = { ...row, removed: 1, summary: "null", updated_at: Date.now(), refs: null };
  putLedgerRow(db, tombstone);
  return tombstone;
}

export function follows(previous: Uint8Array, row: Row): boolean {
  return sameBytes(row.sum, eventSum(previous, row));
}

/** The entities that an event touches, of its row. */
export const touchesOf = ({ touches }: Pick<Row, "touches">): string[] => (touches === null ? [] : JSON.parse(touches));

export function toEvent(row: Row): StoredEvent {
  return eventAs(row, { touches: touchesOf(row), data: JSON.parse(row.data) });
}

/** For what was just written: it need not be read from its text. */
export function eventAs(row: Row, { touches = [], data }: Pick<EventInput, "touches" | "data">): StoredEvent {
  const { seq, id, at, type, v, actor } = row;
  return { seq, id, at, type, v, actor, touches, data, sum: hex(row.sum) };
}

export function damaged(damage: Damage): HoldfastError {
  const where =
    damage.ledger === undefined
      ? "the store"
      : `ledger ${damage.ledger}${damage.seq ? ` from event ${damage.seq} on` : ""}`;
  return new HoldfastError(
    "damaged",
    `${where} is damaged: ${damage.what}; what is before it can be read; repair the store to go on`,
    {
      detail: damage,
    },
  );
}
