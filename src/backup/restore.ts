// Restoring a backup into an empty store: checked whole first, then copied; what was open in it does not start again by itself.
import { importedEvent } from "../contexts/start.ts";
import { contentHashOf } from "../ledger/content-hash.ts";
import { type CopyOptions, copyLedger } from "../ledger/copy-ledger.ts";
import { crashPoint } from "../ledger/crash-point.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { UNFINISHED_RESTORE } from "../ledger/leases.ts";
import type { Seq, Store } from "../ledger/store.ts";
import {
  type CheckedBackup,
  type Chosen,
  checkBackup,
  chooseManifest,
  type Loss,
  type ProvenLedger,
  sourceIn,
} from "./check-backup.ts";
import { sayingHowFar } from "./cut-off.ts";
import { type BackupManifest, listManifests } from "./manifest.ts";
import { isOwnLedger, restoreLedger, type UnfinishedRestore, unfinishedRestore } from "./own-ledgers.ts";
import { bringPack } from "./packs.ts";
import { spooled } from "./spool.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { underLease } from "./under-lease.ts";
import type { Vault } from "./vault.ts";

export interface RestoreBackupOptions {
  vault: Vault;
  to: Store;
  /** Where the project's tree is now. */
  path: string;
  filesDir?: string;
  at?: string;
  /** What is whole is restored, each ledger up to its last proven event. */
  partial?: boolean;
  /** Only recorded, for whoever has to go on with it. */
  keyFile?: string;
  progress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

export interface RestoredBackup {
  manifest: string;
  at: number;
  ledgers: number;
  contexts: number;
  events: number;
  blobs: number;
  packs: number;
  losses: Loss[];
  /** Newer backups that cannot be read. */
  passedOver: { id: string; why: string }[];
  beyond: CheckedBackup["beyond"];
  /** Contexts whose schedules stay off here. */
  scheduled: BackupManifest["scheduled"];
  /** It was begun before, and has gone on; `newer`: a backup that came meanwhile, and is not what was restored. */
  goneOn?: { newer?: string };
  /** By ledger: how far, and the content hash there. */
  heads: Record<string, { head: Seq; sum: string }>;
}

/** Contract: changes nothing unless the backup is whole, or `partial`; killed, the same command goes on. */
export async function restoreBackup(opts: RestoreBackupOptions): Promise<RestoredBackup> {
  return inTemporaryFolder("restore", (dir) =>
    restoreFrom({ ...opts, vault: opts.vault.over(spooled(opts.vault.place, dir)) }),
  );
}

async function restoreFrom(opts: RestoreBackupOptions): Promise<RestoredBackup> {
  const { vault, to } = opts;
  const begun = await unfinishedRestore(to);
  if (!begun) await refuseUnlessEmpty(to);
  const chosen = begun ? await chosenToGoOn(begun, opts) : await chooseManifest(vault, opts);
  const { manifest } = chosen.written;
  const checked = await checkBackup(vault, manifest, opts);
  if (checked.losses.length > 0 && !opts.partial) throw lossError(checked.losses);
  const lease = { store: to, name: UNFINISHED_RESTORE, others: "is restoring into this store", signal: opts.signal };
  return underLease(lease, async (signal) => {
    const total = checked.ledgers.filter(({ head }) => head > 0).length;
    const blobs = await sayingHowFar({ to, what: "the restore", total }, async () => {
      await begin(manifest, opts);
      const copied = await copyAll(checked, { ...opts, signal });
      await verifyAll(checked, to);
      if (opts.filesDir !== undefined) await bringPacks(vault, checked, opts.filesDir);
      await end(checked, opts);
      return copied;
    });
    const newest = (await listManifests(vault)).at(-1)?.id ?? manifest.id;
    const goneOn = begun && { ...(newest > manifest.id && { newer: newest }) };
    return { ...reportOf(checked, { passedOver: chosen.passedOver, blobs }), ...(goneOn && { goneOn }) };
  });
}

async function refuseUnlessEmpty(to: Store): Promise<void> {
  for await (const { ledger } of to.list())
    if (!isOwnLedger(ledger))
      throw new HoldfastError(
        "refused",
        `${to.url} is not empty (it has ${ledger}): a backup is restored into an empty store, in another folder or with --state DIR`,
      );
}

/** What was begun is brought to its end, whatever is the newest by now: half of one and half of another would be neither. */
async function chosenToGoOn(
  begun: UnfinishedRestore,
  { vault, at, partial = false }: RestoreBackupOptions,
): Promise<Chosen> {
  const what = `the restore of backup ${begun.manifest} (of project ${begun.project}, from ${begun.place}) has not ended in this store`;
  const all = await listManifests(vault);
  if (!all.some(({ id }) => id === begun.manifest))
    throw new HoldfastError(
      "refused",
      `${what}, and it is not in ${vault.place.shown}: go on from where it is, or restore into another place`,
    );
  const wanted = at === undefined ? begun.manifest : (await chooseManifest(vault, { at, partial })).named.id;
  if (wanted !== begun.manifest)
    throw new HoldfastError("refused", `${what}: go on without --at, or restore ${wanted} into another place`);
  return chooseManifest(vault, { at: begun.manifest, partial });
}

async function begin(
  manifest: BackupManifest,
  { to, vault, keyFile, partial = false }: RestoreBackupOptions,
): Promise<void> {
  const begun = await unfinishedRestore(to);
  if (begun?.manifest === manifest.id) return;
  if (begun) throw new HoldfastError("held", "another process has begun to restore another backup here: start again");
  await refuseUnlessEmpty(to);
  const data = { manifest: manifest.id, place: vault.place.shown, project: vault.project, partial };
  const event = {
    type: "restore.begun",
    actor: "backup",
    data: { ...data, ...(keyFile !== undefined && { keyFile }) },
  };
  await to.append([{ ledger: UNFINISHED_RESTORE, events: [event] }]);
}

/** What is still to be known of it afterwards is recorded before the mark goes. */
async function end({ manifest, ledgers }: CheckedBackup, { to, vault }: RestoreBackupOptions): Promise<void> {
  const ledger = restoreLedger(manifest.id);
  const heads = new Map(ledgers.map((one) => [one.ledger, one.head]));
  const scheduled = manifest.scheduled.map((one) => ({ ...one, head: heads.get(one.context) ?? 0 }));
  const data = { manifest: manifest.id, place: vault.place.shown, project: vault.project, scheduled };
  if ((await to.head(ledger)) === 0)
    await to.append([{ ledger, events: [{ type: "restore.ended", actor: "backup", data }] }]);
  crashPoint("restore.ended");
  await to.remove(UNFINISHED_RESTORE);
}

/** In the order in which something was last recorded in them: listings stay in that order. */
async function copyAll({ ledgers, manifest }: CheckedBackup, opts: RestoreBackupOptions): Promise<number> {
  const { vault, to, signal, progress } = opts;
  const total = ledgers.reduce((sum, { head }) => sum + head, 0);
  let done = 0;
  let blobs = 0;
  for (const one of ledgers.toSorted((a, b) => a.listing.updatedAt - b.listing.updatedAt)) {
    if (one.head === 0) continue;
    const count = () => progress?.(++done, total);
    const how: CopyOptions = {
      ...asTwin(one, { from: manifest.project.path, to: opts.path }),
      progress: count,
      signal,
    };
    blobs += (await copyLedger(sourceIn(vault, one), to, how)).blobs;
    crashPoint("restore.ledger");
  }
  return blobs;
}

/** The door of an import: what is open goes on in the original; its schedules, jobs and teammates do not begin again here. */
function asTwin({ ledger, head, listing }: ProvenLedger, moved: { from: string; to: string }): CopyOptions {
  if (!ledger.startsWith("ctx_")) return {};
  const { root } = isRecord(listing.summary) ? listing.summary : {};
  const there = typeof root === "string" && root !== "" ? relocated(root, moved) : undefined;
  const end = [importedEvent({ context: ledger, events: head, ...(there !== undefined && { root: there }) })];
  return { end, summary: { root: there ?? "", open: false, busy: [], work: false } };
}

/** What lay below the project's folder lies below it where it is now. */
function relocated(root: string, { from, to }: { from: string; to: string }): string {
  return root === from || root.startsWith(`${from}/`) ? to + root.slice(from.length) : to;
}

async function verifyAll({ ledgers }: CheckedBackup, to: Store): Promise<void> {
  for (const { ledger, head, sum } of ledgers) {
    const there = await contentHashOf(to, ledger, { upTo: head });
    if (there.sum !== sum)
      throw new HoldfastError(
        "damaged",
        `${ledger} is not in ${to.url} as it is in the backup: remove it, and restore again`,
      );
  }
}

async function bringPacks(vault: Vault, { manifest, packs }: CheckedBackup, filesDir: string): Promise<void> {
  for (const name of packs) await bringPack(vault, filesDir, { name, chunks: manifest.packs.get(name) ?? [] });
}

export const lossText = ({ ledger, seq, what }: Loss): string =>
  ledger === undefined ? what : `${ledger} from event ${seq}: ${what}`;

function lossError(losses: Loss[]): HoldfastError {
  const [first, ...more] = losses;
  const others = more.length === 0 ? "" : `; and ${more.length} more (holdfast backup drill lists them)`;
  return new HoldfastError(
    "damaged",
    `the backup is not whole: ${first ? lossText(first) : ""}${others}; nothing was restored: --partial restores what is whole, --at ID another backup`,
    { detail: losses },
  );
}

function reportOf(
  { manifest, ledgers, packs, losses, beyond }: CheckedBackup,
  { passedOver, blobs }: { passedOver: RestoredBackup["passedOver"]; blobs: number },
): RestoredBackup {
  const whole = ledgers.filter(({ head }) => head > 0);
  return {
    manifest: manifest.id,
    at: manifest.at,
    ledgers: whole.length,
    contexts: whole.filter(({ ledger }) => ledger.startsWith("ctx_")).length,
    events: whole.reduce((sum, { head }) => sum + head, 0),
    blobs,
    packs: packs.length,
    ...{ losses, passedOver, beyond, scheduled: manifest.scheduled },
    heads: Object.fromEntries(whole.map(({ ledger, head, sum }) => [ledger, { head, sum }])),
  };
}
