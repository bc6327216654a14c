// Opening the store of a place: a file of SQLite, or the address of a server. What only a server needs is loaded when one is named.
import { addressed } from "./server-address.ts";
import { openSqliteStore } from "./sqlite/index.ts";
import type { Store } from "./store.ts";
import type { StoreOptions } from "./store-options.ts";

/** Where the ledgers of a project are: a file, or a server that keeps those of several projects, each under its name. */
export type StorePlace = { file: string } | { server: string; project: string };

export async function openStore(place: StorePlace, opts: StoreOptions = {}): Promise<Store> {
  if ("file" in place) return openSqliteStore(place.file, opts);
  const { openRedisStore } = await import("./redis/index.ts");
  return openRedisStore(addressed(place.server, place.project), opts);
}
