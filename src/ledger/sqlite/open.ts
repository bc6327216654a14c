// Opening a database file: creating it, migrating it, and the settings of every connection.
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HoldfastError } from "../error.ts";
import { errorCode } from "../guards.ts";
import { newId } from "../id.ts";
import { makeDir } from "../make-dir.ts";
import { type Connection, openConnection } from "./connection.ts";
import { migrate, PAGE_SIZE, SCHEMA, sqliteTooOld } from "./schema.ts";
import { translate } from "./sqlite-errors.ts";
import { patiently } from "./turns.ts";

/** A checkpoint costs fsyncs of its own: about 16 MB of WAL keep it off the usual round. */
const CHECKPOINT_PAGES = 4_000;
/** Not less than the WAL grows to: overwriting it costs a third of extending it. */
const WAL_KEPT_BYTES = 20 << 20;

/** WAL needs shared memory between all who use the file: on a network file system two hosts would destroy it. */
export function refuseNetworkDisk(file: string): void {
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  if (!NETWORK_FILE_SYSTEMS.has(statfsSync(folder).type >>> 0)) return;
  throw new HoldfastError(
    "invalid",
    `${folder} is on a network file system, where SQLite is not safe: set XDG_STATE_HOME to a local folder`,
  );
}

/** NFS, SMB, CIFS, SMB2, AFS, as statfs(2) names them. */
const NETWORK_FILE_SYSTEMS = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f]);

/** Contract: if the file exists, it is sound as far as was looked, and not of a newer Holdfast. */
export async function openForWriting(file: string): Promise<Connection> {
  const tooOld = sqliteTooOld();
  if (tooOld) throw new HoldfastError("upgrade", tooOld);
  if (!existsSync(file)) create(file);
  const db = openConnection(file);
  try {
    // The last one to close holds the file for as long as it moves the WAL.
    await patiently(() => configure(db));
    if ((await db.read(() => userVersion(db))) < SCHEMA) await db.write(() => migrate(db.db, userVersion(db)));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Built under another name and put in place whole: two fsyncs, and nobody ever sees half a store. */
function create(file: string): void {
  const folder = dirname(file);
  makeDir(folder);
  const fresh = `${file}.${newId("new")}`;
  try {
    closeSync(openSync(fresh, "wx", 0o600));
    const db = new DatabaseSync(fresh);
    db.exec(
      `PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA page_size = ${PAGE_SIZE}; PRAGMA auto_vacuum = INCREMENTAL`,
    );
    db.exec("BEGIN");
    migrate(db, 0);
    db.exec("COMMIT");
    db.close();
    sync(fresh, { walMode: true });
    putInPlace(fresh, file);
    sync(folder);
  } catch (error) {
    throw translate(error);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** The first one wins; whoever comes second uses its file. */
function putInPlace(fresh: string, file: string): void {
  try {
    linkSync(fresh, file);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    copyFileSync(fresh, file, constants.COPYFILE_EXCL); // a file system without links
    sync(file);
  }
}

function sync(path: string, opts: { walMode?: boolean } = {}): void {
  const fd = openSync(path, opts.walMode ? "r+" : "r");
  try {
    // The two format versions of the header say WAL; the pragma that sets them costs four fsyncs of its own.
    if (opts.walMode) writeSync(fd, Uint8Array.of(2, 2), 0, 2, 18);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function configure(db: Connection): void {
  db.db.exec(
    `PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`,
  );
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
