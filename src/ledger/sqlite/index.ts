// The SQLite store: one file per project, many processes, nothing acknowledged ever lost silently.

import { RESTORING } from "../leases.ts";
import type { ReadOnly, Store } from "../store.ts";
import type { StoreOptions } from "../store-options.ts";
import { openConnection } from "./connection.ts";
import { openCopies } from "./copies.ts";
import { assess } from "./damage.ts";
import { inspect } from "./inspect.ts";
import { createLiveStore } from "./live-store.ts";
import { openForWriting, refuseNetworkDisk } from "./open.ts";
import { finishRepair } from "./repair.ts";
import { damaged } from "./rows.ts";
import { createSalvagedStore } from "./salvaged-store.ts";
import { WRITER } from "./schema.ts";
import { openSidecar } from "./sidecar.ts";

const LEASE_MS = 15_000;
const NEWER: ReadOnly = {
  code: "upgrade",
  message: "this store was written by a newer Holdfast: it can be read; upgrade to write to it",
};
const LOOKING: ReadOnly = { code: "refused", message: "this store was opened to be read: open it anew to write to it" };

/** Contract: a damaged or newer file opens too, to be read; the store's `readOnly` says why. */
export async function openSqliteStore(file: string, opts: StoreOptions = {}): Promise<Store> {
  const url = `sqlite:${file}`;
  if (!opts.readOnly) finishRepair(file);
  refuseNetworkDisk(file);
  const { damage, newer, restoring, heads, unknown } = await inspect(file);
  const [first] = damage;
  if (first && opts.readOnly) throw damaged(first);
  if (first) return createSalvagedStore(url, await assess(file, { seen: damage, structural: true }));

  const settings = {
    url,
    file,
    writer: opts.version ?? WRITER,
    interactive: opts.interactive ?? false,
    leaseMs: opts.leaseMs ?? Number(process.env.HOLDFAST_LEASE_MS ?? LEASE_MS),
    beforeClose: opts.beforeClose,
    broken: [...heads.values()].filter((head) => head.damaged && !head.removed).map((head) => head.name),
  };
  const notOurs = restoring && !opts.restoring;
  const onlyRead = newer ? NEWER : notOurs ? RESTORING : opts.readOnly ? LOOKING : undefined;
  if (onlyRead) return createLiveStore(openConnection(file, { readOnly: true }), { ...settings, onlyRead });
  const db = await openForWriting(file);
  const sidecar = openSidecar(file);
  for (const head of unknown) sidecar.put(head);
  return createLiveStore(db, { ...settings, sidecar, copies: openCopies(file, db) });
}
