// Owns one connection: prepared statements, errors in the words of the house, and write transactions with our own retry.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, messageOf } from "../error.ts";

/** How long a write may wait for other writers before it gives up as `busy`. */
const GIVE_UP_MS = 30_000;
const FULL = 13;
const IOERR = 10;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
/** Our SQL never breaks a constraint of a sound database: an index and its table disagree. */
const CONSTRAINT = 19;
const NOTADB = 26;
const CANTOPEN = 14;
const READONLY = 8;

export type Param = string | number | null | Uint8Array;

export interface Connection {
  readonly db: DatabaseSync;
  all<T>(sql: string, ...params: Param[]): T[];
  get<T>(sql: string, ...params: Param[]): T | undefined;
  run(sql: string, ...params: Param[]): void;
  /** One write transaction; `body` is synchronous, so that nothing comes between. */
  write<T>(body: () => T): Promise<T>;
  /** A read that another process's recovery or checkpoint may hold up for a moment. */
  read<T>(body: () => T): Promise<T>;
  /** Several reads of one and the same state. */
  view<T>(body: () => T): T;
  close(): void;
}

export function openConnection(file: string, opts: { readOnly?: boolean } = {}): Connection {
  const db = new DatabaseSync(file, { timeout: 0, readOnly: opts.readOnly ?? false });
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string) => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  const rollback = () => {
    try {
      // SQLite has already rolled back after some errors (full disk): then there is nothing left to do.
      if (db.isTransaction) db.exec("ROLLBACK");
    } catch {}
  };

  const connection: Connection = {
    db,
    all: <T>(sql: string, ...params: Param[]) => prepared(sql).all(...params) as T[],
    get: <T>(sql: string, ...params: Param[]) => prepared(sql).get(...params) as T | undefined,
    run: (sql, ...params) => {
      prepared(sql).run(...params);
    },
    write: (body) =>
      patiently(() => {
        prepared("BEGIN IMMEDIATE").run();
        try {
          const result = body();
          prepared("COMMIT").run();
          return result;
        } catch (error) {
          rollback();
          throw error;
        }
      }),
    read: (body) => patiently(body),
    view(body) {
      prepared("BEGIN").run();
      try {
        return body();
      } finally {
        rollback();
      }
    },
    close() {
      statements.clear();
      db.close();
    },
  };
  return connection;
}

/**
 * SQLite's own busy handler sleeps ever longer and blocks the process, so that writers starve. Here a waiter sleeps
 * shorter the longer it has waited: the oldest waiter asks most often.
 */
export async function patiently<T>(attempt: () => T, opts: { raw?: boolean } = {}): Promise<T> {
  let since = 0;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw opts.raw ? error : translate(error);
    }
    const now = performance.now();
    since ||= now;
    const waited = now - since;
    if (waited > GIVE_UP_MS) {
      throw new HoldfastError(
        "busy",
        `the store stayed locked for ${GIVE_UP_MS / 1000} s; nothing was recorded; try again`,
      );
    }
    if (waited > 25) await immediate();
    else await sleep(1 + Math.random() * 4);
  }
}

export function errcode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

function isBusy(error: unknown): boolean {
  const code = errcode(error);
  return code === BUSY || code === LOCKED;
}

/** The database file itself cannot be trusted. */
export function isCorrupt(error: unknown): boolean {
  if (error instanceof HoldfastError) return isCorrupt(error.cause);
  const code = errcode(error);
  return code === CORRUPT || code === NOTADB || code === CONSTRAINT;
}

export function isDisk(error: unknown): boolean {
  const code = errcode(error);
  return code === FULL || code === IOERR || code === CANTOPEN || code === READONLY;
}

export function translate(error: unknown): unknown {
  const code = errcode(error);
  if (code === undefined) return error;
  const why = messageOf(error);
  if (isDisk(error)) {
    return new HoldfastError(
      "disk",
      `the disk refused a write or read (${why}); nothing was recorded; free space or check the disk, then try again`,
      {
        cause: error,
      },
    );
  }
  if (isCorrupt(error)) {
    return new HoldfastError("damaged", `the database file is damaged (${why}); run a repair`, {
      cause: error,
      detail: { what: why },
    });
  }
  return error;
}
