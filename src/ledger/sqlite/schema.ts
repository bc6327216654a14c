// The tables of the SQLite store and the way from an older version of them to this one.

import type { DatabaseSync } from "node:sqlite";
import type { StoreDurability } from "../store.ts";

/** Schema version, kept in user_version and again in `meta`. Higher than ours: a newer Holdfast was here. */
export const SCHEMA = 2;
/** What this code writes into events. A ledger that a newer writer touched may only be read. */
export const WRITER = 1;
export const PAGE_SIZE = 4096;
/** "Hold": tells a damaged header from a file of something else. */
export const APPLICATION_ID = 0x486f6c64;
const SQLITE_AT_LEAST = [3, 51, 3] as const;

/** Ledger n has its events at keys n·2³² + seq: one b-tree, each ledger in one run of pages. */
export const KEY_SPAN = 2 ** 32;
const TABLES = ["ledgers", "events", "entities", "blobs", "wakes", "leases", "snapshots", "meta"];

/** The tables of a file that is not newer than this code. */
export const tablesOf = (version: number): string[] => (hasReferences(version) ? [...TABLES, "refs"] : TABLES);

/** From this version on, what each ledger names is recorded (`references.ts`). */
export const hasReferences = (version: number): boolean => version >= 2;

/** One script for each step: MIGRATIONS[0] makes version 1 of nothing. */
const MIGRATIONS = [
  `
  CREATE TABLE ledgers (
    n INTEGER PRIMARY KEY, name TEXT NOT NULL, head INTEGER NOT NULL, hash BLOB NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, summary TEXT NOT NULL,
    min_writer INTEGER NOT NULL, removed INTEGER NOT NULL, sum BLOB NOT NULL);
  CREATE UNIQUE INDEX ledgers_name ON ledgers(name) WHERE removed = 0;
  -- The name stands in the first event of its ledger only, so that a raw scan can tell whose events these are.
  CREATE TABLE events (
    key INTEGER PRIMARY KEY, name TEXT, id TEXT NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, v INTEGER NOT NULL,
    actor TEXT NOT NULL, touches TEXT, data TEXT NOT NULL, sum BLOB NOT NULL);
  CREATE UNIQUE INDEX events_id ON events(key >> 32, id);
  CREATE TABLE entities (n INTEGER NOT NULL, entity TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (n, entity)) WITHOUT ROWID;
  CREATE TABLE blobs (
    key INTEGER PRIMARY KEY, hash BLOB NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL, codec INTEGER NOT NULL, data BLOB NOT NULL);
  CREATE UNIQUE INDEX blobs_hash ON blobs(hash, part);
  CREATE TABLE wakes (agent TEXT PRIMARY KEY, due_at INTEGER NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID;
  CREATE INDEX wakes_due ON wakes(due_at);
  CREATE TABLE leases (
    name TEXT PRIMARY KEY, epoch INTEGER NOT NULL, holder TEXT, expires_at INTEGER NOT NULL, renewals INTEGER NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE snapshots (
    n INTEGER NOT NULL, fold TEXT NOT NULL, seq INTEGER NOT NULL, saved_at INTEGER NOT NULL, data BLOB NOT NULL, sum BLOB NOT NULL,
    PRIMARY KEY (n, fold));
  CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  INSERT INTO meta VALUES ('schema', 1);
  PRAGMA application_id = ${APPLICATION_ID};
  `,
  // An older Holdfast that has the file open goes on: it names its columns, and leaves the new one as it is.
  `
  ALTER TABLE ledgers ADD COLUMN refs BLOB;
  CREATE TABLE refs (n INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (n, hash)) WITHOUT ROWID;
  `,
];

/** Forward only, inside the caller's transaction. */
export function migrate(db: DatabaseSync, from: number): void {
  for (const [version, sql] of MIGRATIONS.entries()) {
    if (version < from) continue;
    db.exec(sql);
    db.exec(`UPDATE meta SET value = ${version + 1} WHERE name = 'schema'; PRAGMA user_version = ${version + 1}`);
  }
}

/** Older versions may lose committed data when a WAL is reset. */
export function sqliteTooOld(version = process.versions.sqlite ?? "0"): string | undefined {
  const have = version.split(".").map(Number);
  for (const [i, least] of SQLITE_AT_LEAST.entries()) {
    if ((have[i] ?? 0) > least) return undefined;
    if ((have[i] ?? 0) < least) return `SQLite ${version} is older than ${SQLITE_AT_LEAST.join(".")}: upgrade Node.js`;
  }
  return undefined;
}

/** What SQLite promises: every commit is synced to the disk before it is answered. */
export const POWER_SAFE: StoreDurability = {
  class: "power-safe",
  says: "each write is on this machine's disk before it counts, and survives a power cut",
};
