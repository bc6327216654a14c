// Verification: everything is read again, everything derived is derived again, and nothing is changed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type BlobPart, joinParts } from "../blob-parts.ts";
import { bytesSum, sameBytes } from "../checksum.ts";
import { damageIn } from "../damage-in.ts";
import { isHoldfastError, messageOf } from "../error.ts";
import type { Damage, Seq, StoredEvent, VerifyReport } from "../store.ts";
import type { Connection } from "./connection.ts";
import { copyStore, prove } from "./damage.ts";
import { compareHeads } from "./inspect.ts";
import { damagedLeases } from "./lease-row.ts";
import { userVersion } from "./open.ts";
import { readEvents } from "./read.ts";
import { isUpToDate, referencesAddUp } from "./references.ts";
import { allLedgerRows, type LedgerRow, ledgerRow } from "./rows.ts";
import { hasReferences, KEY_SPAN } from "./schema.ts";
import { readHeads } from "./sidecar.ts";
import { isCorrupt } from "./sqlite-errors.ts";
import { tallies } from "./tally.ts";
import { allWakes, intactWake } from "./wakes.ts";

export interface VerifyOptions {
  ledger?: string;
  progress?: (done: number, total: number) => void;
}

export async function verifyStore(db: Connection, file: string, opts: VerifyOptions = {}): Promise<VerifyReport> {
  try {
    return await verifySound(db, file, opts);
  } catch (error) {
    if (!isCorrupt(error) && !isHoldfastError(error, "damaged")) throw error;
    return verifyRaw(file, error, opts);
  }
}

async function verifySound(db: Connection, file: string, opts: VerifyOptions): Promise<VerifyReport> {
  const heads = readHeads(file) ?? new Map();
  const report: VerifyReport = { ledgers: 0, events: 0, blobs: 0, damage: [] };
  const one = opts.ledger;
  report.damage.push(
    ...(await db.read(() => db.view(() => compareHeads(db, heads, { everyEntry: true })))).damage.filter(
      (d) => one === undefined || d.ledger === one,
    ),
  );
  if (one === undefined) report.damage.push(...(await db.read(() => structure(db))));
  const rows = (await db.read(() => allLedgerRows(db))).filter(
    (row) => !row.removed && (one === undefined || row.name === one),
  );
  const total = rows.reduce((sum, row) => sum + row.head, 0);
  for (const row of rows) {
    report.ledgers++;
    const entities = new Map<string, Seq>();
    const bad = await verifyLedger(db, row, (event) => {
      for (const entity of event.touches) entities.set(entity, event.seq);
      report.events++;
      if (report.events % 1000 === 0) opts.progress?.(report.events, total);
    });
    if (bad) add(report.damage, bad);
    else report.damage.push(...(await db.read(() => verifyEntities(db, row, entities))));
    report.damage.push(...(await db.read(() => verifySnapshots(db, row))));
    report.damage.push(...(await db.read(() => db.view(() => verifyReferences(db, row.name)))));
  }
  if (one === undefined) await verifyRest(db, report);
  opts.progress?.(total, total);
  return report;
}

/** Each index against its table, each page against its parent. */
function structure(db: Connection): Damage[] {
  const lines = db.all<{ integrity_check: string }>("PRAGMA integrity_check(20)").map((row) => row.integrity_check);
  return lines.filter((line) => line !== "ok").map((what) => ({ what: `the database file: ${what}` }));
}

async function verifyLedger(
  db: Connection,
  row: LedgerRow,
  seen: (event: StoredEvent) => void,
): Promise<Damage | undefined> {
  try {
    let last = 0;
    for await (const event of readEvents(db, row.name)) {
      seen(event);
      last = event.seq;
      if (last % 1000 === 0) await yieldToEventLoop();
    }
    const base = row.n * KEY_SPAN;
    const beyond = await db.read(() =>
      db.get<{ key: number }>(
        "SELECT min(key) AS key FROM events WHERE key > ? AND key < ?",
        base + Math.max(last, row.head),
        base + KEY_SPAN,
      ),
    );
    // Another process may have appended since; then the list of ledgers says so too.
    const head = await db.read(
      () => db.get<{ head: number }>("SELECT head FROM ledgers WHERE n = ?", row.n)?.head ?? 0,
    );
    if (beyond?.key && beyond.key - base > head)
      return { ledger: row.name, seq: head + 1, what: "its head lies before its last event" };
    return undefined;
  } catch (error) {
    const damage = isCorrupt(error) ? undefined : damageIn(error);
    if (damage) return damage;
    throw error;
  }
}

function verifyEntities(db: Connection, row: LedgerRow, expected: Map<string, Seq>): Damage[] {
  if (!ledgerRow(db, row.name)) return []; // removed meanwhile
  const damage: Damage[] = [];
  const stored = db.all<{ entity: string; version: Seq }>("SELECT entity, version FROM entities WHERE n = ?", row.n);
  for (const { entity, version } of stored) {
    const should = expected.get(entity) ?? 0;
    expected.delete(entity);
    // Newer than what was read: appended meanwhile.
    if (version !== should && version <= row.head) damage.push(wrongVersion(row, entity, should));
  }
  for (const [entity, should] of expected) damage.push(wrongVersion(row, entity, should));
  return damage;
}

function wrongVersion(row: LedgerRow, entity: string, should: Seq): Damage {
  return { ledger: row.name, ...(should && { seq: should }), what: `the stored version of ${entity} is wrong` };
}

function verifySnapshots(db: Connection, row: LedgerRow): Damage[] {
  const sql = "SELECT fold, seq, data, sum FROM snapshots WHERE n = ?";
  const rows = db.all<{ fold: string; seq: Seq; data: Uint8Array; sum: Uint8Array }>(sql, row.n);
  return rows
    .filter((one) => !sameBytes(one.sum, bytesSum([row.name, one.fold, one.seq], one.data)))
    .map((one) => ({ ledger: row.name, what: `the snapshot at ${one.seq} fails its checksum; it will not be used` }));
}

/** What is recorded up to its last event must add up. What is not is read again by the next sweep. */
function verifyReferences(db: Connection, ledger: string): Damage[] {
  if (!hasReferences(userVersion(db))) return [];
  const row = ledgerRow(db, ledger, { references: true });
  if (!row || !isUpToDate(row) || referencesAddUp(db, row)) return [];
  return [{ ledger, what: "the record of the blobs it names is wrong; the next sweep makes it anew" }];
}

async function verifyRest(db: Connection, report: VerifyReport): Promise<void> {
  for (const { hash } of await db.read(() =>
    db.all<{ hash: Uint8Array }>("SELECT DISTINCT hash FROM blobs NOT INDEXED"),
  )) {
    const name = Buffer.from(hash).toString("hex");
    const parts = await db.read(() =>
      db.all<BlobPart>("SELECT part, parts, codec, data FROM blobs WHERE hash = ? ORDER BY part", hash),
    );
    report.blobs++;
    if (!joinParts(name, parts)) report.damage.push({ what: `blob ${name} is incomplete or changed` });
    await yieldToEventLoop();
  }
  const small = () => {
    for (const name of damagedLeases(db)) report.damage.push({ what: `the lease ${name} fails its checksum` });
    for (const wake of allWakes(db)) {
      if (!intactWake(wake)) report.damage.push({ what: `the wake of ${wake.agent} fails its checksum` });
    }
    for (const table of ["wakes", "leases"] as const)
      if (!tallies(db, table)) report.damage.push({ what: `a row of ${table} is missing` });
  };
  await db.read(() => db.view(small));
}

/** SQLite cannot even walk its pages: say what the raw pages prove. */
function verifyRaw(file: string, error: unknown, { ledger }: VerifyOptions): VerifyReport {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-verify-"));
  copyStore(file, join(folder, "copy"));
  const copy = join(folder, "copy", basename(file));
  const found = prove(copy, file);
  try {
    const ledgers = [...found.ledgers.values()].filter((one) => ledger === undefined || one.name === ledger);
    const damage: Damage[] = [{ what: messageOf(error) }];
    for (const one of ledgers) if (one.damage) damage.push(one.damage);
    for (const hash of found.blobs)
      if (!found.blob(hash)) damage.push({ what: `blob ${hash} is incomplete or changed` });
    return {
      ledgers: ledgers.length,
      events: ledgers.reduce((sum, one) => sum + one.rows.length, 0),
      blobs: found.blobs.length,
      damage,
    };
  } finally {
    found.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function add(damage: Damage[], one: Damage): void {
  if (!damage.some((other) => other.ledger === one.ledger && other.seq === one.seq)) damage.push(one);
}
