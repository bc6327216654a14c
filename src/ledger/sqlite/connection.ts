// One connection: prepared statements, and write transactions that take their turn.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { HoldfastError } from "../error.ts";
import { openQueue } from "./queue.ts";
import { createTurns, patiently } from "./turns.ts";
import { openWalSpace } from "./wal-space.ts";

type Param = string | number | null | Uint8Array;

export interface Connection {
  readonly db: DatabaseSync;
  all<T>(sql: string, ...params: Param[]): T[];
  get<T>(sql: string, ...params: Param[]): T | undefined;
  /** How many rows it changed. */
  run(sql: string, ...params: Param[]): number;
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
  const space = openWalSpace(file);
  const statements = new Map<string, StatementSync>();
  let closed = false;
  const prepared = (sql: string) => {
    if (closed) throw new HoldfastError("closed", "the store is closed: open it again");
    let statement = statements.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
  const inTurn = createTurns(queue, () => void prepared("BEGIN IMMEDIATE").run());
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
    run: (sql, ...params) => Number(prepared(sql).run(...params).changes),
    write: (body, { since } = {}) =>
      inTurn((pass) => {
        try {
          const result = body();
          space.ensure();
          pass();
          prepared("COMMIT").run();
          return result;
        } catch (error) {
          rollback();
          throw error;
        }
      }, since),
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
      closed = true;
      statements.clear();
      queue?.close();
      space.close();
      db.close();
    },
  };
  return connection;
}
