// Opening a store, whichever kind: a file is SQLite, a URL is a server. What only a server needs is loaded when one is named.
import { openSqliteStore } from "./sqlite/index.ts";
import type { Store } from "./store.ts";
import type { StoreOptions } from "./store-options.ts";

/** `place`: a file, `sqlite:FILE`, or the URL of a Redis store (`docs/redis.md`). */
export async function openStore(place: string, opts: StoreOptions = {}): Promise<Store> {
  if (!/^rediss?(?:\+sentinel)?:/.test(place)) return openSqliteStore(place.replace(/^sqlite:/, ""), opts);
  const { openRedisStore } = await import("./redis/index.ts");
  return openRedisStore(place, opts);
}
