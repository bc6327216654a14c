// Restoring a backup into an empty store: checked whole first, then copied; what was open in it does not start again by itself.
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importedEvent } from "../contexts/start.ts";
import { contentHashOf } from "../ledger/content-hash.ts";
import { type CopyOptions, copyLedger } from "../ledger/copy-ledger.ts";
import { crashPoint } from "../ledger/crash-point.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { Seq, Store } from "../ledger/store.ts";
import {
  type CheckedBackup,
  checkBackup,
  chooseManifest,
  type Loss,
  type ProvenLedger,
  sourceIn,
} from "./check-backup.ts";
import type { BackupManifest } from "./manifest.ts";
import { isOwnLedger, restoreLedger } from "./own-ledgers.ts";
import { bringPack } from "./packs.ts";
import { spooled } from "./spool.ts";
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
  /** By ledger: how far, and the content hash there. */
  heads: Record<string, { head: Seq; sum: string }>;
}

/** Contract: changes nothing unless the backup is whole, or `partial`; killed, the same command goes on. */
export async function restoreBackup(opts: RestoreBackupOptions): Promise<RestoredBackup> {
  const dir = fs.mkdtempSync(join(tmpdir(), "holdfast-restore-"));
  try {
    return await restoreFrom({ ...opts, vault: opts.vault.over(spooled(opts.vault.place, dir)) });
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
}

async function restoreFrom(opts: RestoreBackupOptions): Promise<RestoredBackup> {
  const { vault, to } = opts;
  const { written, passedOver } = await chooseManifest(vault, opts);
  const { manifest } = written;
  const own = restoreLedger(manifest.id);
  await refuseUnlessEmpty(to, own);
  const checked = await checkBackup(vault, manifest, opts);
  if (checked.losses.length > 0 && !opts.partial) throw lossError(checked.losses);
  const lease = { store: to, name: own, others: "is restoring this backup", signal: opts.signal };
  return underLease(lease, async (signal) => {
    await begin(to, own, { manifest, place: vault.place.shown });
    const blobs = await copyAll(checked, { ...opts, signal });
    await verifyAll(checked, to);
    if (opts.filesDir !== undefined) await bringPacks(vault, checked, opts.filesDir);
    await to.append([{ ledger: own, events: [{ type: "restore.ended", actor: "backup", data: {} }] }]);
    return reportOf(checked, { passedOver, blobs });
  });
}

/** Only what an unfinished restore of the same backup left may be there. */
async function refuseUnlessEmpty(to: Store, own: string): Promise<void> {
  let isGoingOn = false;
  for await (const event of to.read(own)) isGoingOn = event.type === "restore.begun";
  if (isGoingOn) return;
  for await (const { ledger } of to.list())
    if (!isOwnLedger(ledger))
      throw new HoldfastError(
        "refused",
        `${to.url} is not empty (it has ${ledger}): a backup is restored into an empty store, in another folder or with --state DIR`,
      );
}

async function begin(
  to: Store,
  own: string,
  { manifest, place }: { manifest: BackupManifest; place: string },
): Promise<void> {
  if ((await to.head(own)) > 0) return;
  const data = { manifest: manifest.id, place, project: manifest.project.id };
  await to.append([{ ledger: own, events: [{ type: "restore.begun", actor: "backup", data }] }]);
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
