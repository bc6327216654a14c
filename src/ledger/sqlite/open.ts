// Owns opening a database file: creating it, migrating it, and the settings of every connection.
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../error.ts";
import { type Connection, openConnection, patiently } from "./connection.ts";
import { migrate, PAGE_SIZE, SCHEMA, sqliteTooOld } from "./schema.ts";

/** A checkpoint costs fsyncs of its own: about 16 MB of WAL keep it off the usual round. */
const CHECKPOINT_PAGES = 4_000;
/** Not less than the WAL grows to: overwriting it costs a third of extending it. */
const WAL_KEPT_BYTES = 20 << 20;

/** Contract: the file exists, is sound as far as was looked, and is not of a newer Holdfast. */
export async function openForWriting(file: string): Promise<Connection> {
  const tooOld = sqliteTooOld();
  if (tooOld) throw new HoldfastError("upgrade", tooOld);
  const isNew = sizeOf(file) === 0;
  if (isNew) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const db = openConnection(file);
  try {
    if (isNew) {
      chmodSync(file, 0o600);
      await patiently(() => {
        // Only an empty file takes these two; after a lost race they change nothing.
        db.db.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA auto_vacuum = INCREMENTAL`);
        db.db.exec("PRAGMA journal_mode = WAL");
      });
    }
    configure(db);
    if ((await db.read(() => userVersion(db))) < SCHEMA) await db.write(() => migrate(db.db, userVersion(db)));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function configure(db: Connection): void {
  db.db.exec(
    `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`,
  );
}

export function closeDatabase(db: Connection, opts: { checkpoint: boolean }): void {
  try {
    if (opts.checkpoint) db.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Others still use it, or the disk is full: the WAL stays, and nothing is lost.
  }
  db.close();
}

/** The last connection to close moves the WAL into the file and deletes it, unless a read-only one is still there. */
export function closeUntouched(db: Connection, file: string): void {
  let last: Connection | undefined;
  try {
    last = openConnection(file, { readOnly: true });
    userVersion(last);
  } catch {}
  db.close();
  last?.close();
}

export function userVersion(db: Connection): number {
  return db.get<{ user_version: number }>("PRAGMA user_version")!.user_version;
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
