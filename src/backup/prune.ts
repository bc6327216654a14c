// Retention: backups that are too old go, and then what no kept one needs. When in doubt something stays.
import { HoldfastError } from "../ledger/error.ts";
import type { Store } from "../ledger/store.ts";
import { CHUNKS } from "./chunks.ts";
import { BLOBS, blobName } from "./make-backup.ts";
import { listManifests, type NamedManifest, readManifest } from "./manifest.ts";
import { backupLedger } from "./own-ledgers.ts";
import { chunkName } from "./packs.ts";
import { inParallel } from "./parallel.ts";
import { blobListName, LEDGERS, namedSegment } from "./segments.ts";
import { sweepTemporary } from "./temporary-folder.ts";
import { underLease } from "./under-lease.ts";
import { heldBackups, letGo } from "./vanished.ts";
import type { Vault } from "./vault.ts";

export interface PruneOptions {
  vault: Vault;
  /** Whose lease keeps backups away meanwhile. */
  store: Store;
  keepMs: number;
  dryRun?: boolean;
  /** Also those that are held for ledgers that vanished. */
  force?: boolean;
  now?: number;
  /** What is younger stays: another store may be about to name it. */
  graceMs?: number;
}

export interface PruneReport {
  /** The backups that went, and those that stay. */
  removed: string[];
  kept: number;
  /** Of those, what is older, and stays because it is the last that has ledgers that vanished from the store. */
  held: string[];
  objects: number;
  bytes: number;
  /** Why values stayed that perhaps nobody needs. */
  doubt?: string;
}

const GRACE_MS = 86_400_000;
const AT_ONCE = 8;

/** Contract: the newest backup stays. Killed, the next prune goes on. */
export async function prune(opts: PruneOptions): Promise<PruneReport> {
  const { store, vault } = opts;
  sweepTemporary();
  const lease = { store, name: backupLedger(vault.place), others: `is backing up to ${vault.place.shown}` };
  return underLease(lease, (signal) => pruneUnderLease({ ...opts, signal }));
}

async function pruneUnderLease({
  signal,
  vault,
  keepMs,
  dryRun = false,
  force = false,
  now = Date.now(),
  graceMs = GRACE_MS,
}: PruneOptions & { signal: AbortSignal }): Promise<PruneReport> {
  const all = await listManifests(vault);
  const since = now - keepMs;
  const holds = await heldBackups(vault);
  const { going, kept } = divide(all, ({ id, at }) => at >= since || (!force && holds.has(id)));
  const needed = await neededBy(vault, kept, all);
  const isOld = ({ at }: { at: number }) => at <= now - graceMs;
  const loose: { name: string; bytes: number }[] = [];
  const blobs = new Set<string>();
  let doubt: string | undefined;
  const lists: string[] = [];
  for await (const object of vault.list(LEDGERS)) {
    const named = namedSegment(object.name);
    if (!named) continue;
    if (!needed.folders.has(named.folder) && isOld(object)) loose.push(object);
    else if (!named.isBlobList && named.blobs > 0) lists.push(blobListName(object.name));
  }
  await inParallel(lists, AT_ONCE, async (name) => {
    const found = await vault.get(name);
    if (found.kind === "whole")
      for (const hash of found.bytes.toString("utf8").split("\n")) blobs.add(blobName(vault, hash));
    else doubt = `${name} is ${found.kind}: which values are needed is not known, so all of them stay`;
  });
  if (doubt === undefined)
    for await (const object of vault.list(BLOBS)) if (!blobs.has(object.name) && isOld(object)) loose.push(object);
  for await (const object of vault.list(CHUNKS))
    if (!needed.chunks.has(object.name) && isOld(object)) loose.push(object);
  // First what names the others: nothing that is left names what is gone.
  signal.throwIfAborted();
  if (!dryRun) await inParallel(going, AT_ONCE, ({ name }) => vault.remove(name));
  if (!dryRun) await inParallel(loose, AT_ONCE, ({ name }) => vault.remove(name));
  if (!dryRun) vault.place.removeUnfinished?.(now - GRACE_MS);
  if (!dryRun && force) for (const id of holds) await letGo(vault, id);
  const gone = [...going, ...loose];
  return {
    removed: going.map(({ id }) => id),
    kept: kept.length,
    held: force ? [] : kept.filter(({ id, at }) => at < since && holds.has(id)).map(({ id }) => id),
    objects: gone.length,
    bytes: gone.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(doubt !== undefined && { doubt }),
  };
}

/** The newest always stays, and every full one that a kept one adds to. */
function divide(
  all: readonly NamedManifest[],
  stays: (one: NamedManifest) => boolean,
): { going: NamedManifest[]; kept: NamedManifest[] } {
  const kept = new Set(all.filter(stays));
  const newest = all.at(-1);
  if (newest) kept.add(newest);
  for (const { full } of [...kept]) {
    const base = all.find(({ id, full: of }) => id === full && of === undefined);
    if (base) kept.add(base);
  }
  return { going: all.filter((one) => !kept.has(one)), kept: [...kept].sort((a, b) => a.at - b.at) };
}

/** Of those that add to one full manifest the last says all that they name: what came and went in between stands in it too. */
async function neededBy(vault: Vault, kept: readonly NamedManifest[], all: readonly NamedManifest[]) {
  const folders = new Set<string>();
  const chunks = new Set<string>();
  const last = new Map(kept.map((one) => [one.full ?? one.id, one]));
  for (const named of last.values()) {
    const read = await readManifest(vault, named, all);
    if (read.kind !== "whole")
      throw new HoldfastError(
        "damaged",
        `backup ${named.id} cannot be read, so what it needs is not known: nothing was removed`,
      );
    const { manifest, full, passed } = read.written;
    for (const ledger of [...full.ledgers.keys(), ...manifest.ledgers.keys(), ...passed.ledgers.keys()])
      folders.add(vault.folderOf(ledger));
    for (const list of [...full.packs.values(), ...manifest.packs.values(), ...passed.packs.values()])
      for (const chunk of list) chunks.add(chunkName(vault, chunk));
  }
  return { folders, chunks };
}
