// Owns one connection: prepared statements, errors in the words of the house, and write transactions with our own retry.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, messageOf } from "../error.ts";
import { monotonicMs } from "../holder.ts";
import { openQueue, type Queue } from "./queue.ts";
import { openWalSpace } from "./wal-space.ts";

/** How long a write may wait for other writers before it gives up as `busy`. */
const GIVE_UP_MS = 30_000;
/** From then on a waiting writer goes before newcomers. */
const STARVING_MS = 8;
const SPIN_MS = 200;
const FULL = 13;
const IOERR = 10;
/** The file ends before a page that it should have: no fault of the disk. */
const IOERR_SHORT_READ = 522;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
/** Our SQL never breaks a constraint of a sound database: an index and its table disagree. */
const CONSTRAINT = 19;
const NOTADB = 26;
const CANTOPEN = 14;
const READONLY = 8;

type Param = string | number | null | Uint8Array;

export interface Connection {
  readonly db: DatabaseSync;
  all<T>(sql: string, ...params: Param[]): T[];
  get<T>(sql: string, ...params: Param[]): T | undefined;
  run(sql: string, ...params: Param[]): void;
  /** One write transaction; `body` is synchronous, so that nothing comes between. */
  write<T>(body: () => T, opts?: { since?: number }): Promise<T>;
  /** A read that another process's recovery or checkpoint may hold up for a moment. */
  read<T>(body: () => T): Promise<T>;
  /** Several reads of one and the same state. */
  view<T>(body: () => T): T;
  close(): void;
}

export function openConnection(file: string, opts: { readOnly?: boolean } = {}): Connection {
  const db = new DatabaseSync(file, { timeout: 0, readOnly: opts.readOnly ?? false });
  const queue = opts.readOnly ? undefined : openQueue(file);
  const inTurn = createTurns(queue);
  const space = openWalSpace(file);
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
    write(body, { since } = {}) {
      const attempt = () => {
        prepared("BEGIN IMMEDIATE").run();
        try {
          const result = body();
          space.ensure();
          prepared("COMMIT").run();
          return result;
        } catch (error) {
          rollback();
          throw error;
        }
      };
      return inTurn(attempt, since);
    },
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
      queue?.close();
      space.close();
      db.close();
    },
  };
  return connection;
}

/**
 * SQLite's own busy handler sleeps ever longer and blocks the process, so that writers starve. Here the writers of this
 * process stand in line, and one that has waited for long goes before those of other processes.
 */
function createTurns(queue: Queue | undefined): <T>(attempt: () => T, since?: number) => Promise<T> {
  let line: Promise<unknown> | undefined;

  async function wait<T>(
    attempt: () => T,
    before: Promise<unknown> | undefined,
    given: number | undefined,
  ): Promise<T> {
    await before?.catch(() => {});
    const from = monotonicMs();
    const since = given ?? from;
    let announced = false;
    try {
      for (;;) {
        const waited = monotonicMs() - from;
        if (waited > GIVE_UP_MS) throw stayedLocked();
        if (monotonicMs() - since > STARVING_MS) {
          queue?.announce(since);
          announced = true;
        }
        if (queue?.mustWait(since)) {
          await sleep(1);
          continue;
        }
        try {
          return attempt();
        } catch (error) {
          if (!isBusy(error)) throw translate(error);
        }
        // First in line: ask without a pause, but not for ever, should the holder be stopped.
        if (announced && waited < SPIN_MS) await immediate();
        else await sleep(1 + Math.random() * 3);
      }
    } finally {
      if (announced) queue?.withdraw();
    }
  }

  /** One who lost to others and comes again keeps its place meanwhile, so that it does not lose for ever. */
  async function keepingPlace<T>(turn: Promise<T>, since: number): Promise<T> {
    try {
      const result = await turn;
      queue?.withdraw();
      return result;
    } catch (error) {
      if (monotonicMs() - since > STARVING_MS) queue?.announce(since);
      throw error;
    }
  }

  function inTurn<T>(attempt: () => T, since: number | undefined): Promise<T> {
    if (line === undefined && !queue?.mustWait(since ?? Number.POSITIVE_INFINITY)) {
      try {
        return Promise.resolve(attempt());
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(translate(error));
      }
    }
    const mine = wait(attempt, line, since);
    line = mine;
    const leave = () => {
      if (line === mine) line = undefined;
    };
    mine.then(leave, leave);
    return mine;
  }

  return (attempt, since) =>
    since === undefined ? inTurn(attempt, since) : keepingPlace(inTurn(attempt, since), since);
}

/** For reads and for opening: another process's recovery or checkpoint is over in a moment. */
export async function patiently<T>(attempt: () => T, opts: { raw?: boolean } = {}): Promise<T> {
  const since = monotonicMs();
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw opts.raw ? error : translate(error);
    }
    if (monotonicMs() - since > GIVE_UP_MS) throw stayedLocked();
    await sleep(1 + Math.random() * 4);
  }
}

function stayedLocked(): HoldfastError {
  return new HoldfastError(
    "busy",
    `the store stayed locked for ${GIVE_UP_MS / 1000} s; nothing was recorded; try again`,
  );
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
  if ((error as { errcode?: unknown } | undefined)?.errcode === IOERR_SHORT_READ) return true;
  const code = errcode(error);
  return code === CORRUPT || code === NOTADB || code === CONSTRAINT;
}

export function isDisk(error: unknown): boolean {
  const code = isCorrupt(error) ? undefined : errcode(error);
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
