// Owns collection: ledgers that may go, and the blobs that no remaining event names, in one transaction.
import { setImmediate as breathe } from "node:timers/promises";
import type { Collected, CollectOptions, Seq } from "../store.ts";
import type { Connection } from "./connection.ts";
import { allLedgerRows, type LedgerRow, removeLedgerRows } from "./rows.ts";
import { KEY_SPAN } from "./schema.ts";

const BATCH = 500;
const HASH = 64;
const DIGITS = /[0-9a-f]{64,}/g;

interface Size {
  events: number;
  bytes: number;
}

interface Seen {
  /** Every blob with its size. */
  blobs: Map<string, number>;
  named: Set<string>;
}

/**
 * Most of the reading happens before the lock is taken; inside the transaction only what was appended meanwhile is read. A blob enters
 * with the event that names it, so that what is unnamed then stays unnamed.
 */
export async function collectRows(
  db: Connection,
  { remove = [], dryRun = false }: CollectOptions,
): Promise<Collected & { removed: LedgerRow[] }> {
  const going = new Map(remove.map((one) => [one.ledger, one.head]));
  const seen: Seen = { blobs: new Map(), named: new Set() };
  const scanned = new Map<number, Seq>();
  const rows = await db.read(() => allLedgerRows(db));
  // After the heads: whatever those events name is already here.
  seen.blobs = await db.read(() => allBlobs(db));
  for (const row of rows) {
    if (row.removed || going.get(row.name) === row.head) continue;
    for (let at = 0; at < row.head; at += BATCH) {
      await db.read(() => scan(db, row.n, { from: at + 1, to: Math.min(at + BATCH, row.head) }, seen));
      await breathe();
    }
    scanned.set(row.n, row.head);
  }

  const finish = () => {
    seen.blobs = allBlobs(db);
    const removed: LedgerRow[] = [];
    const ledgers: Collected["ledgers"] = [];
    for (const row of allLedgerRows(db)) {
      if (row.removed) continue;
      if (going.get(row.name) === row.head) {
        ledgers.push({ ledger: row.name, ...sizeOf(db, row.n) });
        if (!dryRun) removed.push(removeLedgerRows(db, row.name)!);
      } else {
        scan(db, row.n, { from: (scanned.get(row.n) ?? 0) + 1, to: row.head }, seen);
      }
    }
    return { ledgers, removed, ...sweep(db, seen, dryRun) };
  };
  return dryRun ? db.read(() => db.view(finish)) : db.write(finish);
}

/** Any text of 64 hexadecimal digits counts: what mechanisms write into texts (`blob:…`) holds its blob too. */
function scan(db: Connection, n: number, range: { from: Seq; to: Seq }, { blobs, named }: Seen): void {
  if (range.from > range.to) return;
  const sql = "SELECT data FROM events WHERE key >= ? AND key <= ?";
  for (const { data } of db.all<{ data: string }>(sql, n * KEY_SPAN + range.from, n * KEY_SPAN + range.to)) {
    for (const [digits] of data.matchAll(DIGITS)) {
      // A hash may stand right behind other digits: then each place in the run counts.
      for (let at = 0; at + HASH <= digits.length; at++) {
        const hash = digits.slice(at, at + HASH);
        if (blobs.has(hash)) named.add(hash);
      }
    }
  }
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

function sweep(db: Connection, { blobs, named }: Seen, dryRun: boolean): { blobs: number; bytes: number } {
  const swept = { blobs: 0, bytes: 0 };
  for (const [hash, bytes] of blobs) {
    if (named.has(hash)) continue;
    swept.blobs++;
    swept.bytes += bytes;
    if (!dryRun) db.run("DELETE FROM blobs WHERE hash = ?", Buffer.from(hash, "hex"));
  }
  return swept;
}
