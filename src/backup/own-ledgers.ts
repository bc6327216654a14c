// What backups record in the store itself: how far each ledger is backed up, and where. These ledgers are not part of a backup.
import { hash } from "node:crypto";
import { isRecord } from "../ledger/guards.ts";
import { UNFINISHED_RESTORE } from "../ledger/leases.ts";
import type { Seq, Store } from "../ledger/store.ts";
import type { BackupManifest } from "./manifest.ts";
import type { BackupPlace } from "./place.ts";

const BACKUP = "backup:";
const RESTORE = "restore:";

export const isOwnLedger = (ledger: string): boolean => ledger.startsWith(BACKUP) || ledger.startsWith(RESTORE);

const shortHash = (text: string): string => hash("sha256", text, "hex").slice(0, 16);

/** One a place: it also names the lease under which one process at a time backs up to it. */
export const backupLedger = ({ shown }: Pick<BackupPlace, "shown">): string => `${BACKUP}${shortHash(shown)}`;
/** What a restore that has ended leaves. */
export const restoreLedger = (id: string): string => `${RESTORE}${id}`;

/** Contexts of restored backups that had something scheduled, and how far each is what was backed up: recorded before a restore has ended. */
export async function restoredScheduled(store: Pick<Store, "list" | "read">): Promise<Map<string, Seq>> {
  const found = new Map<string, Seq>();
  for await (const { ledger } of store.list({ prefix: RESTORE })) {
    if (ledger === UNFINISHED_RESTORE) continue;
    for await (const { data } of store.read(ledger)) {
      const all = isRecord(data) && Array.isArray(data.scheduled) ? data.scheduled : [];
      for (const one of all.filter(isRecord))
        if (typeof one.context === "string" && typeof one.head === "number" && one.head > 0)
          found.set(one.context, one.head);
    }
  }
  return found;
}

/** Of which backup a restore has not ended. */
export interface UnfinishedRestore {
  manifest: string;
  place: string;
  project: string;
  partial: boolean;
  keyFile?: string;
}

/** Undefined: there is none in this store. */
export async function unfinishedRestore(store: Pick<Store, "read">): Promise<UnfinishedRestore | undefined> {
  for await (const { data } of store.read(UNFINISHED_RESTORE, { upTo: 1 })) {
    if (!isRecord(data)) continue;
    const { manifest, place, project, partial, keyFile } = data;
    if (typeof manifest === "string" && typeof place === "string" && typeof project === "string")
      return { manifest, place, project, partial: partial === true, ...(typeof keyFile === "string" && { keyFile }) };
  }
  return undefined;
}

/** How far a context is backed up. */
export interface BackedUpTo {
  place: string;
  at: number;
  seq: Seq;
  /** Events that are not backed up yet. */
  lag: number;
}

/** Only what changed is written: of a summary's keys the others stay. */
export async function recordBackup(
  store: Store,
  place: BackupPlace,
  { manifest, before }: { manifest: BackupManifest; before: BackupManifest | undefined },
): Promise<void> {
  const ledger = backupLedger(place);
  const changed: Record<string, Seq | null> = {};
  for (const [name, { head }] of manifest.ledgers)
    if (before?.ledgers.get(name)?.head !== head) changed[`seq ${name}`] = head;
  for (const name of before?.ledgers.keys() ?? []) if (!manifest.ledgers.has(name)) changed[`seq ${name}`] = null;
  const begun = { type: "backup.begun", actor: "backup", data: { place: place.shown } };
  const events = (await store.head(ledger)) === 0 ? [begun] : [];
  const { at, id, project } = manifest;
  const summary = { ...changed, place: place.shown, at, manifest: id, project: project.id };
  await store.append([{ ledger, events, summary }]);
}

export interface LastBackup {
  place: string;
  at: number;
  manifest: string;
  /** As what it was backed up; older versions did not say. */
  project?: string;
  seqs: Map<string, Seq>;
}

/** The last backup to each place, the newest first. */
export async function lastBackups(store: Pick<Store, "list">): Promise<LastBackup[]> {
  const found: LastBackup[] = [];
  for await (const { summary } of store.list({ prefix: BACKUP })) {
    if (!isRecord(summary)) continue;
    const { place, at, manifest, project, ...rest } = summary;
    if (typeof place !== "string" || typeof at !== "number" || typeof manifest !== "string") continue;
    const seqs = new Map<string, Seq>();
    for (const [key, seq] of Object.entries(rest))
      if (typeof seq === "number" && key.startsWith("seq ")) seqs.set(key.slice("seq ".length), seq);
    found.push({ place, at, manifest, seqs, ...(typeof project === "string" && { project }) });
  }
  return found.sort((a, b) => b.at - a.at);
}

/** Undefined: it is in no backup. */
export function backedUpTo(
  backups: readonly LastBackup[],
  { id, events }: { id: string; events: Seq },
): BackedUpTo | undefined {
  let best: BackedUpTo | undefined;
  for (const { place, at, seqs } of backups) {
    const seq = seqs.get(id);
    if (seq !== undefined && (!best || seq > best.seq)) best = { place, at, seq, lag: Math.max(0, events - seq) };
  }
  return best;
}
