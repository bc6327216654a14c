// The store of a child, by its place: a file, or the address of a server. Ends of a child: when its stdin ends.
import { writeSync } from "node:fs";
import { openRedisStore } from "../../../../src/ledger/redis/index.ts";
import { openSqliteStore } from "../../../../src/ledger/sqlite/index.ts";
import type { Store } from "../../../../src/ledger/store.ts";

export const openPlace = (place: string, opts: { leaseMs?: number } = {}): Promise<Store> =>
  /^rediss?[:+]/.test(place) ? openRedisStore(place, opts) : openSqliteStore(place, opts);

/** One line, out before anything else is done: what is acknowledged counts from here. */
export const say = (what: object): void => void writeSync(1, `${JSON.stringify(what)}\n`);

/** Aborted when whoever started this process says so, or is gone. */
export function untilToldToEnd(): AbortSignal {
  const over = new AbortController();
  process.stdin.on("end", () => over.abort()).on("error", () => over.abort());
  process.stdin.resume();
  return over.signal;
}
