// The look before the first write: does the database still hold what its sidecar says was committed?
import { existsSync } from "node:fs";
import { sameBytes } from "../checksum.ts";
import { messageOf } from "../error.ts";
import { UNFINISHED_RESTORE } from "../leases.ts";
import type { Damage } from "../store.ts";
import { type Connection, openConnection } from "./connection.ts";
import { hasCopies } from "./copies.ts";
import { sizeOf, userVersion } from "./open.ts";
import { allLedgerRows, ledgerSum, sumAt } from "./rows.ts";
import { APPLICATION_ID, SCHEMA, tablesOf } from "./schema.ts";
import { type Head, readHeads } from "./sidecar.ts";
import { errcode, isDisk, translate } from "./sqlite-errors.ts";
import { patiently } from "./turns.ts";

export interface Inspection {
  heads: Map<number, Head>;
  damage: Damage[];
  /** Written by a newer Holdfast: may be read, not written. */
  newer: boolean;
  /** A restore into it has not ended. */
  restoring: boolean;
  /** Ledgers that the sidecar has no head for: a file that came here without it. */
  unknown: Head[];
}

/** Contract: a read-only connection, which neither writes nor checkpoints when it is closed. */
export async function inspect(file: string): Promise<Inspection> {
  // Heads are read first: whatever is committed in between only makes the database newer than they are.
  const heads = readHeads(file) ?? new Map<number, Head>();
  const found: Inspection = { heads, damage: [], newer: false, restoring: false, unknown: [] };
  if (sizeOf(file) === 0) {
    // SQLite would take an empty file for a new database and delete its WAL.
    if (heads.size > 0 || existsSync(file) || sizeOf(`${file}-wal`) > 0 || hasCopies(file))
      found.damage.push({ what: `the database file is ${existsSync(file) ? "empty" : "missing"}` });
    return found;
  }
  let db: Connection | undefined;
  try {
    db = openConnection(file, { readOnly: true });
    const open = db;
    await patiently(() => open.view(() => look(open, found)), { raw: true });
  } catch (error) {
    // Any other error of SQLite means a schema that is not ours any more: our own SQL was read from no file.
    if (errcode(error) === undefined || isDisk(error)) throw translate(error);
    found.damage.push({ what: `the database file is damaged (${messageOf(error)})` });
  } finally {
    db?.close();
  }
  return found;
}

function look(db: Connection, found: Inspection): void {
  const version = userVersion(db);
  const application = db.get<{ application_id: number }>("PRAGMA application_id")!.application_id;
  const schema = db.get<{ value: number }>("SELECT value FROM meta WHERE name = 'schema'")?.value;
  if (application !== APPLICATION_ID || schema !== version) {
    const claim = `the header claims version ${version}: if a newer Holdfast wrote this, upgrade; else it is damaged`;
    found.damage = [{ what: version > SCHEMA ? claim : "the header of the database file is changed" }];
    return;
  }
  found.newer = version > SCHEMA;
  if (!found.newer) for (const table of tablesOf(version)) db.all(`SELECT * FROM ${table} LIMIT 0`);
  const { damage, unknown, restoring } = compareHeads(db, found.heads, { everyEntry: false });
  found.damage = damage;
  found.unknown = unknown;
  found.restoring = restoring;
}

/**
 * What the list of ledgers says against what the sidecar says. Opening looks at heads alone, so that thousands of ledgers cost
 * little: the checksum of an entry is checked whenever it is used, and of all of them where `everyEntry` says so.
 */
export function compareHeads(
  db: Connection,
  heads: Map<number, Head>,
  opts: { everyEntry: boolean },
): Pick<Inspection, "damage" | "unknown" | "restoring"> {
  const damage: Damage[] = [];
  const unknown: Head[] = [];
  const rows = new Map(allLedgerRows(db).map((row) => [row.n, row]));
  for (const row of rows.values()) {
    const head = heads.get(row.n);
    const plain = head !== undefined && head.name === row.name && head.removed === (row.removed === 1);
    if ((opts.everyEntry || !plain) && !sameBytes(row.sum, ledgerSum(row))) {
      damage.push({
        ledger: head?.name ?? row.name,
        what: "its entry in the list of ledgers fails its checksum",
      });
    } else if (!head) {
      unknown.push({
        n: row.n,
        name: row.name,
        seq: row.head,
        sum: row.hash,
        removed: row.removed === 1,
        damaged: false,
      });
    }
  }
  const named = db.all<{ n: number; name: string }>(
    "SELECT n, name FROM ledgers INDEXED BY ledgers_name WHERE removed = 0",
  );
  for (const { n, name } of named)
    if (rows.get(n)?.name !== name)
      damage.push({ ledger: heads.get(n)?.name ?? name, what: "it is not found by its name" });
  const live = [...rows.values()].filter((row) => !row.removed).length;
  if (live !== named.length) damage.push({ what: "the index of ledgers is incomplete" });
  for (const head of heads.values()) {
    const row = rows.get(head.n);
    const broken = (what: string, seq?: number) => damage.push({ ledger: head.name, ...(seq && { seq }), what });
    if (!row) broken("it is missing from the list of ledgers", 1);
    else if (row.removed) continue;
    else if (head.removed) broken("it was removed but is back: the end of the write-ahead log is lost");
    else if (row.head < head.seq) broken(`${head.seq - row.head} committed event(s) are missing`, row.head + 1);
    else if (!sameBytes(row.head === head.seq ? row.hash : sumAt(db, row, head.seq), head.sum)) {
      broken("the event is not the one that was committed", head.seq);
    }
  }
  return { damage, unknown, restoring: named.some(({ name }) => name === UNFINISHED_RESTORE) };
}
