// One backup: what is new since the last one goes to the place, in an order in which a kill leaves nothing half: blobs, segments, packs, then the manifest.
import { setTimeout as sleep } from "node:timers/promises";
import { NO_CONTENT, nextContentHash, type PortableEvent } from "../ledger/content-hash.ts";
import { crashPoint } from "../ledger/crash-point.ts";
import { isHoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { possibleReferences } from "../ledger/references.ts";
import type { Damage, LedgerSummary, Seq, Store } from "../ledger/store.ts";
import { VERSION } from "../version.ts";
import { isOurName } from "./ledger-names.ts";
import {
  type BackedUpLedger,
  type BackupManifest,
  idOfTime,
  listManifests,
  putManifest,
  readManifest,
  type Written,
} from "./manifest.ts";
import { backupLedger, isOwnLedger, lastBackups, recordBackup } from "./own-ledgers.ts";
import { putPacks } from "./packs.ts";
import { inParallel } from "./parallel.ts";
import { blobListName, LEDGERS, segmentBytes, segmentName } from "./segments.ts";
import { underLease } from "./under-lease.ts";
import { holdBackup, vanishedOf } from "./vanished.ts";
import { markProject, type Vault } from "./vault.ts";

const SEGMENT_EVENTS = 5_000;
const SEGMENT_BYTES = 4 << 20;
const AT_ONCE = 4;
const CUT_TRIES = 5;
const CUT_PAUSE_MS = 20;
/** From so many on all names are listed at once. */
const MANY = 50;
export const BLOBS = "blobs/";

export const blobName = (vault: Vault, hash: string): string => {
  const name = vault.hashName(hash);
  return `${BLOBS}${name.slice(0, 2)}/${name}.zst`;
};

export interface BackupOptions {
  store: Store;
  vault: Vault;
  /** Where the project's tree is. */
  path: string;
  /** Where the files of its checkpoints are kept. */
  filesDir?: string;
  /** What an earlier backup of this process gave: then nothing is looked up. */
  last?: Written;
  /** Everything is written anew, over what is there. */
  anew?: boolean;
  signal?: AbortSignal;
  progress?: (done: number, total: number) => void;
}

export interface BackupReport {
  /** Undefined: nothing had changed since the last one. */
  manifest?: string;
  at: number;
  ledgers: number;
  events: number;
  /** What was new. */
  newEvents: number;
  newBlobs: number;
  removed: string[];
  /** Of those: what is gone though nobody removed it, and the backup that has it last. */
  vanished?: { ledgers: string[]; lastIn: string };
  bytes: number;
  oneMoment: boolean;
  /** Ledgers with another past than in the last backup: both are kept. */
  replaced: string[];
  /** What could not be read in the store, and is backed up only as far as before. */
  damage: Damage[];
  /** Ledgers with names that Holdfast does not give: no restore would take them, so they are left out. */
  strange: string[];
}

/** Contract: one at a time for each place; throws `held` when another process is at it. */
export async function makeBackup(opts: BackupOptions): Promise<{ report: BackupReport; written: Written | undefined }> {
  const { store, vault } = opts;
  const lease = { store, name: backupLedger(vault.place), others: `is backing up to ${vault.place.shown}` };
  return underLease({ ...lease, signal: opts.signal }, (signal) => backUp({ ...opts, signal }));
}

/** Another process may have backed up to the same place since. */
async function isNewest(store: Store, { place }: Vault, { manifest }: Written): Promise<boolean> {
  const backups = await lastBackups(store);
  return backups.find((one) => one.place === place.shown)?.manifest === manifest.id;
}

/** The newest manifest that can be read; with damaged ones nothing is lost: what they name is there under its name. */
async function lastIn(vault: Vault): Promise<{ written?: Written; newest: number }> {
  const all = await listManifests(vault);
  const newest = all.at(-1)?.at ?? 0;
  for (const named of all.toReversed().slice(0, 3)) {
    const read = await readManifest(vault, named, all);
    if (read.kind === "whole") return { written: read.written, newest };
  }
  return { newest };
}

async function backUp(
  opts: BackupOptions & { signal: AbortSignal },
): Promise<{ report: BackupReport; written: Written | undefined }> {
  const { store, vault, signal } = opts;
  const last = opts.last && (await isNewest(store, vault, opts.last)) ? opts.last : undefined;
  const isFirst = last === undefined;
  const found = last ? { written: last, newest: last.manifest.at } : await lastIn(vault);
  const before = opts.anew ? undefined : found.written;
  const known = before?.manifest;
  // Taken before: what is younger than the backup says of itself need not be in it.
  const at = Math.max(Date.now(), found.newest + 1);
  const { entries, strange, oneMoment } = await cut(store);
  const work = createWork({ ...opts, known, isFirst });
  const wanted: LedgerSummary[] = [];
  for (const entry of entries) if (await work.isChanged(entry)) wanted.push(entry);
  const total = wanted.reduce((sum, { ledger, head }) => sum + head - (known?.ledgers.get(ledger)?.head ?? 0), 0);
  work.expect(total);
  await inParallel(wanted, AT_ONCE, async (entry) => {
    signal.throwIfAborted();
    await work.back(entry);
  });
  signal.throwIfAborted();
  const knownPacks = known?.packs ?? new Map<string, string[]>();
  const own = opts.filesDir
    ? await putPacks(vault, { filesDir: opts.filesDir, known: knownPacks })
    : new Map<string, string[]>();
  // Each machine has those of its own checkpoints: where several share a store, the others' stay.
  const packs = store.reach === "network" ? new Map([...knownPacks, ...own]) : own;
  const ledgers = new Map<string, BackedUpLedger>();
  for (const { ledger } of entries) {
    const one = work.done.get(ledger) ?? known?.ledgers.get(ledger);
    if (one) ledgers.set(ledger, one);
  }
  const removed = [...(known?.ledgers.keys() ?? [])].filter((name) => !ledgers.has(name));
  const vanished = await vanishedOf(store, vault, removed);
  const report: BackupReport = {
    ...{ at, ledgers: ledgers.size, removed, oneMoment },
    ...(known && vanished.length > 0 && { vanished: { ledgers: vanished, lastIn: known.id } }),
    events: [...ledgers.values()].reduce((sum, { head }) => sum + head, 0),
    ...{ newEvents: work.counts.events, newBlobs: work.counts.blobs, bytes: vault.moved.bytes },
    ...{ replaced: work.replaced, damage: work.damage, strange },
  };
  const samePacks = packs.size === known?.packs.size && [...packs.keys()].every((name) => known.packs.has(name));
  if (known && work.done.size === 0 && removed.length === 0 && samePacks)
    return { report: { ...report, at: known.at }, written: before };
  const scheduled = await scheduledIn(store);
  const project = { id: vault.project, path: opts.path };
  const manifest: BackupManifest = {
    ...{ id: idOfTime(at), at, project, store: store.url, version: VERSION, oneMoment },
    ...{ ledgers, removed: new Map(), packs, scheduled },
  };
  if (known && vanished.length > 0) await holdBackup(vault, known, vanished);
  crashPoint("backup.before-manifest");
  signal.throwIfAborted();
  if (isFirst) await markProject(vault);
  const { written } = await putManifest(vault, manifest, before);
  crashPoint("backup.manifest");
  await recordBackup(store, vault.place, { manifest: written.manifest, before: isFirst ? undefined : known });
  return { report: { ...report, manifest: manifest.id, bytes: vault.moved.bytes }, written };
}

/** All ledgers as they were at one moment: two lists that are the same say so. Whoever writes without a pause makes it a loose one. */
async function cut(store: Store): Promise<{ entries: LedgerSummary[]; strange: string[]; oneMoment: boolean }> {
  const { entries: all, oneMoment } = await cutOfAll(store);
  const entries = all.filter(({ ledger }) => isOurName(ledger));
  const strange = all.filter(({ ledger }) => !isOurName(ledger)).map(({ ledger }) => ledger);
  return { entries, strange, oneMoment };
}

async function cutOfAll(store: Store): Promise<{ entries: LedgerSummary[]; oneMoment: boolean }> {
  let before = await headsOf(store);
  for (let n = 0; n < CUT_TRIES; n++) {
    const now = await headsOf(store);
    const isSame =
      now.length === before.length &&
      now.every(({ ledger, head }, i) => before[i]?.ledger === ledger && before[i].head === head);
    if (isSame) return { entries: now, oneMoment: true };
    before = now;
    await sleep(CUT_PAUSE_MS * Math.random());
  }
  return { entries: before, oneMoment: false };
}

/** What a backup is to hold: every ledger with something in it, but for backups' own and those that still arrive. */
export async function headsOf(store: Store): Promise<LedgerSummary[]> {
  const found: LedgerSummary[] = [];
  for await (const entry of store.list()) {
    const isArriving = isRecord(entry.summary) && entry.summary.importing === true;
    if (!isArriving && !isOwnLedger(entry.ledger) && entry.head > 0) found.push(entry);
  }
  return found;
}

const scheduledIn = async (store: Store): Promise<BackupManifest["scheduled"]> =>
  (await store.due(Number.MAX_SAFE_INTEGER))
    .filter(({ by }) => by === "cron")
    .map(({ context, agent, dueAt }) => ({ context, agent, dueAt }));

function createWork(opts: BackupOptions & { known: BackupManifest | undefined; isFirst: boolean }) {
  const { store, vault, known, isFirst, anew = false, progress = () => undefined } = opts;
  const done = new Map<string, BackedUpLedger>();
  const counts = { events: 0, blobs: 0 };
  const replaced: string[] = [];
  const damage: Damage[] = [];
  const isThere = createPresence(vault, anew);
  const blobs = new Set<string>();
  let total = 0;

  async function putBlob(hash: string): Promise<boolean> {
    const object = blobName(vault, hash);
    if (blobs.has(object)) return true;
    const bytes = await store.blob(hash);
    if (!bytes) return false;
    if (!(await isThere(object, BLOBS))) {
      await vault.put(object, bytes);
      counts.blobs++;
      crashPoint("backup.blob");
    }
    blobs.add(object);
    return true;
  }

  async function putSegment(entry: LedgerSummary, { events, before, after }: Stretch): Promise<void> {
    const [first] = events;
    const last = events.at(-1);
    if (!first || !last) return;
    const named: string[] = [];
    for (const hash of new Set(events.flatMap(({ data }) => [...possibleReferences(JSON.stringify(data) ?? "")])))
      if (await putBlob(hash)) named.push(hash);
    const { ledger, createdAt, updatedAt, summary } = entry;
    const listing = { createdAt, updatedAt, summary };
    const header = { ledger, from: first.seq, to: last.seq, before, after, listing, blobs: named };
    const name = segmentName(vault, { holdfast: "segment", format: 1, ...header });
    // Written by a backup that was killed: the same name is the same content.
    if (!isFirst || !(await isThere(name, `${LEDGERS}${vault.folderOf(ledger)}/`))) {
      if (named.length > 0) await vault.put(blobListName(name), Buffer.from(named.join("\n")));
      await vault.put(name, segmentBytes(header, events));
      crashPoint("backup.segment");
    }
    counts.events += events.length;
    progress(counts.events, total);
  }

  /** Where to go on: behind what is backed up when the store still has that past, else from the first event. */
  async function startOf({ ledger, head }: LedgerSummary): Promise<{ after: Seq; sum: string }> {
    const one = known?.ledgers.get(ledger);
    if (!one) return { after: 0, sum: NO_CONTENT };
    if (one.head <= head) {
      for await (const event of store.read(ledger, { after: one.head - 1, upTo: one.head }))
        if (event.sum === one.base) return { after: one.head, sum: one.sum };
      // Another store may hold the same events.
      let sum = NO_CONTENT;
      for await (const event of store.read(ledger, { upTo: one.head })) sum = nextContentHash(sum, event);
      if (sum === one.sum) return { after: one.head, sum };
    }
    replaced.push(ledger);
    return { after: 0, sum: NO_CONTENT };
  }

  async function backLedger(entry: LedgerSummary): Promise<void> {
    const { ledger, head } = entry;
    const start = await startOf(entry);
    let { sum } = start;
    let stretch: Stretch = { events: [], before: sum, after: sum };
    let bytes = 0;
    let base = "";
    let seq = start.after;
    // The event before the first new one is read too: its checksum is the store's own.
    for await (const event of store.read(ledger, { after: Math.max(0, start.after - 1), upTo: head })) {
      const { sum: own = "", ...portable } = event;
      base = own;
      if (event.seq <= start.after) continue;
      seq = event.seq;
      sum = nextContentHash(sum, portable);
      stretch.events.push(portable);
      stretch.after = sum;
      bytes += JSON.stringify(portable.data)?.length ?? 0;
      if (stretch.events.length < SEGMENT_EVENTS && bytes < SEGMENT_BYTES) continue;
      await putSegment(entry, stretch);
      stretch = { events: [], before: sum, after: sum };
      bytes = 0;
    }
    if (seq !== head) return; // it was removed meanwhile: the next backup says so
    await putSegment(entry, stretch);
    done.set(ledger, { head, sum, base });
  }

  return {
    ...{ done, counts, replaced, damage },
    expect: (events: number) => {
      total = events;
    },
    /** In a process that has looked once, a ledger with the same head is the same. */
    async isChanged({ ledger, head }: LedgerSummary): Promise<boolean> {
      const one = known?.ledgers.get(ledger);
      if (!one || one.head !== head || anew) return true;
      if (!isFirst) return false;
      try {
        for await (const event of store.read(ledger, { after: head - 1, upTo: head })) return event.sum !== one.base;
      } catch (error) {
        if (!isHoldfastError(error, "damaged")) throw error;
      }
      return true;
    },
    async back(entry: LedgerSummary): Promise<void> {
      try {
        await backLedger(entry);
      } catch (error) {
        if (!isHoldfastError(error, "damaged")) throw error;
        damage.push(isDamage(error.detail) ? error.detail : { ledger: entry.ledger, what: error.what });
      }
    },
  };
}

const isDamage = (value: unknown): value is Damage => isRecord(value) && typeof value.what === "string";

interface Stretch {
  events: PortableEvent[];
  before: string;
  after: string;
}

/** Whether an object is there: asked one by one, and from many on by one list. Contract: for one backup only: a prune may follow. */
function createPresence(vault: Vault, anew: boolean): (name: string, prefix: string) => Promise<boolean> {
  const asked = new Map<string, number>();
  const lists = new Map<string, Promise<Set<string>>>();
  const listOf = async (prefix: string): Promise<Set<string>> => {
    const names = new Set<string>();
    for await (const { name } of vault.list(prefix)) names.add(name);
    return names;
  };
  return async (name, prefix) => {
    if (anew) return false;
    const count = (asked.get(prefix) ?? 0) + 1;
    asked.set(prefix, count);
    if (count < MANY && !lists.has(prefix)) return vault.has(name);
    const listed = lists.get(prefix) ?? listOf(prefix);
    lists.set(prefix, listed);
    return (await listed).has(name);
  };
}
