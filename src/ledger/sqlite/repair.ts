// Owns repair: the damaged file is kept beside, and a new one is built from what verifies.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { genesis } from "../checksum.ts";
import { crashPoint } from "../crash-point.ts";
import { HoldfastError } from "../error.ts";
import { newId } from "../id.ts";
import type { Salvage, SalvagedLedger } from "../salvage.ts";
import type { Damage, Seq } from "../store.ts";
import { packBlob, putBlob } from "./blobs.ts";
import { type Connection, openConnection } from "./connection.ts";
import { hasCopies } from "./copies.ts";
import { prove, quarantine, writeSalvage } from "./damage.ts";
import { inspect } from "./inspect.ts";
import { leaseRow, putLeaseRow } from "./lease-row.ts";
import { openForWriting, sizeOf } from "./open.ts";
import { putEventRow, putLedgerRow } from "./rows.ts";
import { openSidecar } from "./sidecar.ts";
import { verifyStore } from "./verify.ts";
import { allWakes, putWake } from "./wakes.ts";

export interface Repair {
  /** What was found; none: the store was left as it is. */
  damage: Damage[];
  /** What the store holds now. */
  ledgers: number;
  events: number;
  /** Events that nothing proves any more. */
  lost: number;
}

/** Contract: no other process has the store open. Nothing is deleted; a sound store is left as it is. */
export async function repairSqliteStore(file: string): Promise<Repair> {
  if (sizeOf(file) === 0 && !existsSync(`${file}.heads`) && !hasCopies(file))
    throw new HoldfastError("not_found", `there is no store at ${file}`);
  finishRepair(file);
  const { damage, heads, newer } = await inspect(file);
  if (newer) throw new HoldfastError("upgrade", "this store was written by a newer Holdfast: upgrade to repair it");
  const seen = damage.length > 0 ? damage : await verifyClosed(file);
  const flagged = [...heads.values()].some((head) => head.damaged && !head.removed);
  if (seen.length === 0 && !flagged) return { damage: [], ledgers: 0, events: 0, lost: 0 };

  const kept = quarantine(file);
  const copy = join(kept, basename(file));
  const found = prove(copy, file);
  for (const ledger of found.ledgers.values()) writeSalvage(kept, ledger);
  const rebuilt = join(kept, `${newId("rebuilt")}.db`);
  await rebuild(rebuilt, found, { old: copy, removed: Math.max(0, ...heads.keys()) });
  crashPoint("repair.rebuilt");
  writeFileSync(`${file}.repair`, rebuilt, { mode: 0o600, flush: true });
  finishRepair(file);
  const ledgers = [...found.ledgers.values()];
  const named = ledgers.flatMap((ledger) => ledger.damage ?? []);
  const rest = seen.filter((one) => !named.some((other) => other.ledger === one.ledger));
  found.close();
  const sum = (count: (ledger: SalvagedLedger) => number) => ledgers.reduce((all, one) => all + count(one), 0);
  return {
    damage: [...named, ...rest],
    ledgers: ledgers.length,
    events: sum((one) => one.rows.length),
    lost: sum((one) => one.head - one.rows.length),
  };
}

/** Puts the rebuilt file in place. Contract: may be cut off anywhere and be run again; the copies are already kept. */
export function finishRepair(file: string): void {
  const marker = `${file}.repair`;
  if (!existsSync(marker)) return;
  const rebuilt = readFileSync(marker, "utf8");
  if (existsSync(rebuilt)) {
    // The old WAL must not be applied to the new file.
    for (const part of ["-wal", "-shm"]) rmSync(file + part, { force: true });
    crashPoint("repair.half-way");
    if (existsSync(`${rebuilt}.heads`)) renameSync(`${rebuilt}.heads`, `${file}.heads`);
    renameSync(rebuilt, file);
  }
  for (const part of [".bell", ".queue"]) rmSync(rebuilt + part, { force: true });
  rmSync(marker);
}

async function verifyClosed(file: string): Promise<Damage[]> {
  const db = openConnection(file, { readOnly: true });
  try {
    return (await verifyStore(db, file)).damage;
  } finally {
    db.close();
  }
}

async function rebuild(target: string, found: Salvage, from: { old: string; removed: number }): Promise<void> {
  const db = await openForWriting(target);
  const sidecar = openSidecar(target);
  try {
    for (const ledger of found.ledgers.values()) {
      await db.write(() => putLedger(db, ledger));
      const last = ledger.rows.at(-1);
      const sum = last?.sum ?? genesis(ledger.n, ledger.name);
      sidecar.put({ n: ledger.n, name: ledger.name, seq: ledger.rows.length, sum, removed: false, damaged: false });
    }
    // Numbers of removed ledgers are never given out again.
    await db.write(() => keepNumbers(db, from.removed));
    for (const hash of found.blobs) {
      const bytes = found.blob(hash);
      if (!bytes) continue;
      const packed = await packBlob(bytes);
      await db.write(() => putBlob(db, packed));
    }
    await carryOver(db, from.old);
    db.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    sidecar.close();
    db.close();
  }
}

function putLedger(db: Connection, ledger: SalvagedLedger): void {
  const { n, name, rows, entry } = ledger;
  const versions = new Map<string, Seq>();
  for (const row of rows) {
    putEventRow(db, ledger, row);
    for (const entity of row.touches === null ? [] : (JSON.parse(row.touches) as string[]))
      versions.set(entity, row.seq);
  }
  for (const [entity, version] of versions) db.run("INSERT INTO entities VALUES (?, ?, ?)", n, entity, version);
  putLedgerRow(db, {
    n,
    name,
    head: rows.length,
    hash: rows.at(-1)?.sum ?? genesis(n, name),
    created_at: entry?.created_at ?? rows[0]?.at ?? 0,
    updated_at: entry?.updated_at ?? rows.at(-1)?.at ?? 0,
    summary: ledger.summary,
    min_writer: entry?.min_writer ?? 1,
    removed: 0,
  });
}

function keepNumbers(db: Connection, highest: number): void {
  const max = db.get<{ n: number | null }>("SELECT max(n) AS n FROM ledgers")?.n ?? 0;
  if (highest <= max) return;
  const name = `removed-${highest}`;
  const row = { n: highest, name, head: 0, hash: genesis(highest, name), summary: "null", min_writer: 0, removed: 1 };
  putLedgerRow(db, { ...row, created_at: 0, updated_at: 0 });
}

/** Wakes and leases, where SQLite still reads them: an epoch that went back would let an old host write again. */
async function carryOver(db: Connection, old: string): Promise<void> {
  let from: Connection | undefined;
  try {
    from = openConnection(old);
    const source = from;
    const wakes = allWakes(source);
    const leases = source.all<{ name: string }>("SELECT name FROM leases").map(({ name }) => leaseRow(source, name)!);
    await db.write(() => {
      for (const wake of wakes) putWake(db, { agent: wake.agent, dueAt: wake.due_at });
      for (const lease of leases) putLeaseRow(db, lease);
    });
  } catch {
    // Beyond reading: agents are woken again by whoever opens the store, epochs start anew.
  } finally {
    try {
      from?.close();
    } catch {}
  }
}
