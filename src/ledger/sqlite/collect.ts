// Collection: ledgers that may go, and the blobs that no remaining ledger names, in one transaction.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { hex } from "../checksum.ts";
import type { JudgedLeases } from "../leases.ts";
import { possibleReferences } from "../references.ts";
import type { Collected, CollectOptions, Seq } from "../store.ts";
import type { Connection } from "./connection.ts";
import { dropLeaseRows, leaseRowsOf } from "./lease-row.ts";
import { isUpToDate, referencesAddUp, referencesOf, replaceReferences } from "./references.ts";
import { allLedgerRows, type LedgerRow, ledgerRow, removeLedgerRows } from "./rows.ts";
import { KEY_SPAN } from "./schema.ts";
import { dropWakes } from "./wakes.ts";

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
  { remove = [], blobs: sweeps = true, dryRun = false }: CollectOptions,
  heldBy: JudgedLeases["heldBy"],
): Promise<Gone & Omit<Collected, "ledgers" | "held">> {
  const going = new Map(remove.map((one) => [one.ledger, one.head]));
  const read = new Map<number, Read>();
  const rows = sweeps ? await db.read(() => unreliable(db)) : [];
  // After the heads: whatever those events name is already here.
  const before = rows.length > 0 ? await db.read(() => allBlobs(db)) : new Map<string, number>();
  for (const row of rows) {
    if (going.get(row.name) === row.head) continue;
    const one: Read = { upTo: 0, named: new Set() };
    while (one.upTo < row.head) {
      await db.read(() => scan(db, row.n, { to: Math.min(one.upTo + BATCH, row.head), blobs: before, one }));
      await yieldToEventLoop();
    }
    read.set(row.n, one);
  }

  const finish = () => {
    const gone = takeAway(db, { remove, dryRun, heldBy });
    if (!sweeps) return { ...gone, blobs: 0, bytes: 0 };
    const blobs = allBlobs(db);
    const named = new Set<string>();
    const names = new Set(gone.ledgers.map(({ ledger }) => ledger));
    for (const row of allLedgerRows(db, { references: true })) {
      if (row.removed || names.has(row.name)) continue;
      for (const hash of namedIn(db, row, { blobs, read: read.get(row.n), dryRun })) named.add(hash);
    }
    return { ...gone, ...sweep(db, { blobs, named, dryRun }) };
  };
  return dryRun ? db.read(() => db.view(finish)) : db.write(finish);
}

interface Gone extends Pick<Collected, "ledgers" | "held"> {
  /** What is left of them. */
  removed: LedgerRow[];
}

/** Whoever begins to work on one of them takes its lease first: before this, and it stays; or after, and it is gone. */
function takeAway(
  db: Connection,
  { remove, dryRun, heldBy }: Required<Pick<CollectOptions, "remove" | "dryRun">> & Pick<JudgedLeases, "heldBy">,
): Gone {
  const gone: Gone = { ledgers: [], held: [], removed: [] };
  for (const { ledger, head, leases } of remove) {
    const row = ledgerRow(db, ledger);
    if (row?.head !== head) continue;
    const by = leases === undefined ? undefined : firstHeld(db, leases, heldBy);
    if (by) {
      gone.held.push({ ledger, by });
      continue;
    }
    gone.ledgers.push({ ledger, ...sizeOf(db, row.n) });
    if (dryRun) continue;
    const removed = removeLedgerRows(db, ledger);
    if (removed) gone.removed.push(removed);
    if (leases !== undefined) dropLeaseRows(db, leases);
  }
  if (gone.removed.length > 0) dropWakes(db, new Set(gone.removed.map(({ name }) => name)));
  return gone;
}

function firstHeld(db: Connection, prefix: string, heldBy: JudgedLeases["heldBy"]) {
  for (const row of leaseRowsOf(db, prefix)) {
    const by = heldBy(row);
    if (by) return by;
  }
  return undefined;
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
