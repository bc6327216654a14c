// Owns collection: ledgers that may go, and the blobs that no remaining ledger names, in one transaction.
import { setImmediate as breathe } from "node:timers/promises";
import { hex } from "../checksum.ts";
import { possibleReferences } from "../references.ts";
import type { Collected, CollectOptions, Seq } from "../store.ts";
import type { Connection } from "./connection.ts";
import { isUpToDate, referencesAddUp, referencesOf, replaceReferences } from "./references.ts";
import { allLedgerRows, type LedgerRow, removeLedgerRows } from "./rows.ts";
import { KEY_SPAN } from "./schema.ts";

const BATCH = 500;

interface Size {
  events: number;
  bytes: number;
}

/** What the events of a ledger name, up to one of them. */
interface Read {
  upTo: Seq;
  named: Set<string>;
}

/**
 * What each ledger names is recorded with its events. Only ledgers of which that cannot be relied on are read here, most of it before the
 * lock is taken; then their references are recorded too. A blob enters with the event that names it, so that what is unnamed then stays
 * unnamed.
 */
export async function collectRows(
  db: Connection,
  { remove = [], dryRun = false }: CollectOptions,
): Promise<Collected & { removed: LedgerRow[] }> {
  const going = new Map(remove.map((one) => [one.ledger, one.head]));
  const read = new Map<number, Read>();
  const rows = await db.read(() => unreliable(db));
  // After the heads: whatever those events name is already here.
  const before = rows.length > 0 ? await db.read(() => allBlobs(db)) : new Map<string, number>();
  for (const row of rows) {
    if (going.get(row.name) === row.head) continue;
    const one: Read = { upTo: 0, named: new Set() };
    while (one.upTo < row.head) {
      await db.read(() => scan(db, row.n, { to: Math.min(one.upTo + BATCH, row.head), blobs: before, one }));
      await breathe();
    }
    read.set(row.n, one);
  }

  const finish = () => {
    const blobs = allBlobs(db);
    const named = new Set<string>();
    const removed: LedgerRow[] = [];
    const ledgers: Collected["ledgers"] = [];
    for (const row of allLedgerRows(db, { references: true })) {
      if (row.removed) continue;
      if (going.get(row.name) === row.head) {
        ledgers.push({ ledger: row.name, ...sizeOf(db, row.n) });
        if (!dryRun) removed.push(removeLedgerRows(db, row.name)!);
        continue;
      }
      for (const hash of namedIn(db, row, { blobs, read: read.get(row.n), dryRun })) named.add(hash);
    }
    return { ledgers, removed, ...sweep(db, { blobs, named, dryRun }) };
  };
  return dryRun ? db.read(() => db.view(finish)) : db.write(finish);
}

/** Ledgers whose references must be read from their events. */
function unreliable(db: Connection): LedgerRow[] {
  return db.view(() =>
    allLedgerRows(db, { references: true }).filter(
      (row) => !row.removed && !(isUpToDate(row) && referencesAddUp(db, row)),
    ),
  );
}

function namedIn(
  db: Connection,
  row: LedgerRow,
  { blobs, read, dryRun }: { blobs: Map<string, number>; read: Read | undefined; dryRun: boolean },
): string[] {
  if (!read && isUpToDate(row)) return referencesOf(db, row.n).map(hex);
  const one = read ?? { upTo: 0, named: new Set() };
  scan(db, row.n, { to: row.head, blobs, one });
  const there = [...one.named].filter((hash) => blobs.has(hash));
  if (!dryRun)
    replaceReferences(
      db,
      row,
      there.map((hash) => Buffer.from(hash, "hex")),
    );
  return there;
}

interface Scan {
  to: Seq;
  blobs: Map<string, number>;
  one: Read;
}

/** Reads on up to `to`. */
function scan(db: Connection, n: number, { to, blobs, one }: Scan): void {
  if (one.upTo >= to) return;
  const sql = "SELECT data FROM events WHERE key > ? AND key <= ?";
  for (const { data } of db.all<{ data: string }>(sql, n * KEY_SPAN + one.upTo, n * KEY_SPAN + to))
    for (const hash of possibleReferences(data)) if (blobs.has(hash)) one.named.add(hash);
  one.upTo = to;
}

function sizeOf(db: Connection, n: number): Size {
  const sql =
    "SELECT count(*) AS events, coalesce(sum(octet_length(data)), 0) AS bytes FROM events WHERE key > ? AND key < ?";
  return db.get<Size>(sql, n * KEY_SPAN, (n + 1) * KEY_SPAN)!;
}

function allBlobs(db: Connection): Map<string, number> {
  const sql = "SELECT lower(hex(hash)) AS hash, sum(octet_length(data)) AS bytes FROM blobs GROUP BY hash";
  return new Map(db.all<{ hash: string; bytes: number }>(sql).map((one) => [one.hash, one.bytes]));
}

interface Sweep {
  blobs: Map<string, number>;
  named: Set<string>;
  dryRun: boolean;
}

function sweep(db: Connection, { blobs, named, dryRun }: Sweep): { blobs: number; bytes: number } {
  const swept = { blobs: 0, bytes: 0 };
  for (const [hash, bytes] of blobs) {
    if (named.has(hash)) continue;
    swept.blobs++;
    swept.bytes += bytes;
    if (!dryRun) db.run("DELETE FROM blobs WHERE hash = ?", Buffer.from(hash, "hex"));
  }
  return swept;
}
