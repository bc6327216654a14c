// Repair: the damaged file is kept beside, and a new one is built from what verifies.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { packBlob } from "../blob-parts.ts";
import { genesis } from "../checksum.ts";
import { crashPoint } from "../crash-point.ts";
import { HoldfastError } from "../error.ts";
import { newId } from "../id.ts";
import type { Salvage } from "../salvage.ts";
import type { SalvagedLedger } from "../salvage-chain.ts";
import type { Damage, Seq, VerifyReport } from "../store.ts";
import { putBlob } from "./blobs.ts";
import { type Connection, openConnection } from "./connection.ts";
import { hasCopies, openCopies } from "./copies.ts";
import { prove, quarantine, quarantineOf, writeSalvage } from "./damage.ts";
import { inspect } from "./inspect.ts";
import { leaseRow, putLeaseRow } from "./lease-row.ts";
import { openForWriting, sizeOf } from "./open.ts";
import { type LedgerEntry, putEventRow, putLedgerRow, touchesOf } from "./rows.ts";
import { type Head, openSidecar } from "./sidecar.ts";
import { isBusy } from "./sqlite-errors.ts";
import { verifyStore } from "./verify.ts";
import { allWakes, putWake, wakeOf } from "./wakes.ts";

export interface Repair {
  /** What was found; none: the store was left as it is. */
  damage: Damage[];
  /** What the store holds now. */
  ledgers: number;
  events: number;
  /** Events that nothing proves any more. */
  lost: number;
}

/** Contract: refused while another process has the store open. Nothing is deleted; a sound store is left as it is. */
export async function repairSqliteStore(file: string): Promise<Repair> {
  if (sizeOf(file) === 0 && !existsSync(`${file}.heads`) && !hasCopies(file))
    throw new HoldfastError("not_found", `there is no store at ${file}`);
  finishRepair(file);
  const { damage, heads, newer } = await inspect(file);
  if (newer) throw new HoldfastError("upgrade", "this store was written by a newer Holdfast: upgrade to repair it");
  const checked = damage.length > 0 ? undefined : await verifyClosed(file);
  const seen = withMarked(checked?.damage ?? damage, heads);
  if (checked && seen.length === 0) return { damage: [], ledgers: checked.ledgers, events: checked.events, lost: 0 };

  const kept = quarantine(file);
  const copy = join(kept, basename(file));
  const found = prove(copy, file);
  for (const ledger of found.ledgers.values()) writeSalvage(kept, ledger);
  const rebuilt = join(kept, `${newId("rebuilt")}.db`);
  const blobs = await rebuild(rebuilt, found, { old: copy, removed: Math.max(0, ...heads.keys()) });
  crashPoint("repair.rebuilt");
  writeFileSync(`${file}.repair`, rebuilt, { mode: 0o600, flush: true });
  if (quarantineOf(file) !== kept || isOpenElsewhere(file)) {
    for (const part of ["", ".heads", ".copies", ".bell", ".queue"])
      rmSync(rebuilt + part, { recursive: true, force: true });
    rmSync(`${file}.repair`);
    throw new HoldfastError("busy", "another process uses this store, and nothing was changed: end it, then repair");
  }
  finishRepair(file);
  const ledgers = [...found.ledgers.values()];
  const named = [...ledgers.flatMap((ledger) => ledger.damage ?? []), ...blobs];
  const rest = seen.filter((one) => !named.some((other) => other.ledger === one.ledger && isSame(one, other)));
  found.close();
  const sum = (count: (ledger: SalvagedLedger) => number) => ledgers.reduce((all, one) => all + count(one), 0);
  return {
    damage: [...named, ...rest],
    ledgers: ledgers.length,
    events: sum((one) => one.rows.length),
    lost: sum((one) => one.head - one.rows.length),
  };
}

/** Said once for a ledger; what is of no ledger, for each thing. */
function isSame(one: Damage, other: Damage): boolean {
  return one.ledger !== undefined || one.what === other.what;
}

/** Also ledgers with a row that failed its checksum once when it was read: nothing may be appended to them. */
function withMarked(damage: Damage[], heads: Map<number, Head>): Damage[] {
  const marked = [...heads.values()].filter((head) => head.damaged && !head.removed).map((head) => head.name);
  const more = marked.filter((name) => !damage.some((one) => one.ledger === name));
  return [...damage, ...more.map((ledger) => ({ ledger, what: "an event failed its checksum when it was read" }))];
}

/** Whoever has the file open would go on writing to one that is no more. Contract: what may change here is already kept. */
function isOpenElsewhere(file: string): boolean {
  if (sizeOf(file) === 0) return false;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return false;
  } catch (error) {
    return isBusy(error); // any other: too damaged for SQLite
  } finally {
    try {
      db?.close();
    } catch {}
  }
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
    if (existsSync(`${rebuilt}.copies`)) {
      const before = join(dirname(rebuilt), `${newId("before")}.copies`);
      if (existsSync(`${file}.copies`)) renameSync(`${file}.copies`, before);
      crashPoint("repair.no-copies");
      renameSync(`${rebuilt}.copies`, `${file}.copies`);
    }
    renameSync(rebuilt, file);
  }
  for (const part of [".bell", ".queue"]) rmSync(rebuilt + part, { force: true });
  rmSync(marker);
}

async function verifyClosed(file: string): Promise<VerifyReport> {
  const db = openConnection(file, { readOnly: true });
  try {
    return await verifyStore(db, file);
  } finally {
    db.close();
  }
}

/** Also its copies, anew: what was missing in them is proven now. Answers which blobs could not be put back. */
async function rebuild(target: string, found: Salvage, from: { old: string; removed: number }): Promise<Damage[]> {
  const db = await openForWriting(target);
  const sidecar = openSidecar(target);
  const copies = openCopies(target, db);
  const lost: Damage[] = [];
  try {
    for (const ledger of found.ledgers.values()) {
      const row = await db.write(() => putLedger(db, ledger));
      copies.put({ row, events: ledger.rows, summarised: true });
      const last = ledger.rows.at(-1);
      const sum = last?.sum ?? genesis(ledger.n, ledger.name);
      sidecar.put({ n: ledger.n, name: ledger.name, seq: ledger.rows.length, sum, removed: false, damaged: false });
    }
    // Numbers of removed ledgers are never given out again.
    await db.write(() => keepNumbers(db, from.removed));
    for (const hash of found.blobs) {
      const bytes = found.blob(hash);
      if (!bytes) lost.push({ what: `blob ${hash} is incomplete or changed` });
      if (!bytes) continue;
      const packed = await packBlob(bytes);
      await db.write(() => putBlob(db, packed));
    }
    await carryOver(db, from.old);
    db.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return lost;
  } finally {
    copies.close();
    sidecar.close();
    db.close();
  }
}

function putLedger(db: Connection, ledger: SalvagedLedger): LedgerEntry {
  const { n, name, rows, entry } = ledger;
  const versions = new Map<string, Seq>();
  for (const row of rows) {
    putEventRow(db, ledger, row);
    for (const entity of touchesOf(row)) versions.set(entity, row.seq);
  }
  for (const [entity, version] of versions) db.run("INSERT INTO entities VALUES (?, ?, ?)", n, entity, version);
  const row = {
    n,
    name,
    head: rows.length,
    hash: rows.at(-1)?.sum ?? genesis(n, name),
    created_at: entry?.created_at ?? rows[0]?.at ?? 0,
    updated_at: entry?.updated_at ?? rows.at(-1)?.at ?? 0,
    summary: ledger.summary,
    min_writer: entry?.min_writer ?? 1,
    removed: 0,
  };
  putLedgerRow(db, row);
  return row;
}

function keepNumbers(db: Connection, highest: number): void {
  const max = db.get<{ n: number | null }>("SELECT max(n) AS n FROM ledgers")?.n ?? 0;
  if (highest <= max) return;
  const name = `removed-${highest}`;
  const row = { n: highest, name, head: 0, hash: genesis(highest, name), summary: "null", min_writer: 0, removed: 1 };
  putLedgerRow(db, { ...row, created_at: 0, updated_at: 0 });
}

/** Wakes and leases, where SQLite still reads them: a term that went back would let an old host write again. */
async function carryOver(db: Connection, old: string): Promise<void> {
  let from: Connection | undefined;
  try {
    from = openConnection(old);
    const source = from;
    const wakes = allWakes(source);
    const names = source.all<{ name: string }>("SELECT name FROM leases");
    const leases = names.flatMap(({ name }) => leaseRow(source, name) ?? []);
    await db.write(() => {
      for (const wake of wakes) putWake(db, wakeOf(wake));
      for (const lease of leases) putLeaseRow(db, lease);
    });
  } catch {
    // Beyond reading: agents are woken again by whoever opens the store, terms start anew.
  } finally {
    try {
      from?.close();
    } catch {}
  }
}
