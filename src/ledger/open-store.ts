// Opening the store of a place: a file of SQLite, or the address of a server. What a place does not need is not loaded.
import { HoldfastError } from "./error.ts";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/index.ts";
import type { Store } from "./store.ts";

/** Where the ledgers of a project are: a file, or a server that keeps those of several projects, each under its name. */
export type StorePlace = { file: string } | { server: string; project: string };

export type StoreOptions = Pick<SqliteStoreOptions, "interactive" | "leaseMs" | "readOnly" | "beforeClose">;

export async function openStore(place: StorePlace, opts: StoreOptions = {}): Promise<Store> {
  if ("file" in place) return openSqliteStore(place.file, opts);
  throw new HoldfastError("invalid", "redis:// is not there yet: use a directory or sqlite:FILE");
}
