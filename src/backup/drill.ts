// The drill: a backup restored to a temporary place, compared with the store that it was made of, and removed.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextStateHash } from "../contexts/verify.ts";
import { contentHashOf } from "../ledger/content-hash.ts";
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import type { Seq, Store } from "../ledger/store.ts";
import { diskWords, isDiskError } from "./cut-off.ts";
import { lastBackupTo } from "./last-backup.ts";
import { isOurName } from "./ledger-names.ts";
import { headsOf } from "./make-backup.ts";
import { listManifests } from "./manifest.ts";
import { type RestoreBackupOptions, type RestoredBackup, restoreBackup } from "./restore.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import type { Vault } from "./vault.ts";

export interface DrillReport {
  /** Everything in the backup can be restored, and is what the store says. */
  ok: boolean;
  restored: Omit<RestoredBackup, "heads">;
  /** Ledgers that are the same in both, up to what is backed up. */
  same: number;
  /** In the backup, and no longer in the store. */
  removedSince: string[];
  differences: { ledger: string; seq: Seq; what: string }[];
  /** The last backup that the store recorded there, where the place has none as new: somebody removed it, or put an older copy there. */
  missing?: string;
  /** Ledgers of the store that should be in the backup, and are not. */
  absent: string[];
}

type DrillOptions = Omit<RestoreBackupOptions, "to" | "filesDir" | "partial"> & { store: Store };

/** Contract: the store is only read; nothing is left behind. Throws `disk` where there is no room for it. */
export async function runDrill(opts: DrillOptions): Promise<DrillReport> {
  return inTemporaryFolder("drill", (dir) => drillIn(dir, opts)).catch((error: unknown) => {
    if (!isDiskError(error)) throw error;
    throw new HoldfastError(
      "disk",
      `the backup was not judged: a drill restores it in ${tmpdir()}, which did not work (${diskWords(innermost(error))}): make room there, or set TMPDIR to another folder`,
      { cause: error },
    );
  });
}

/** What the restore said of it tells how to go on with it: nobody goes on with a drill. */
const innermost = (error: unknown): unknown =>
  isHoldfastError(error, "disk") && isDiskError(error.cause) ? innermost(error.cause) : error;

async function drillIn(dir: string, opts: DrillOptions): Promise<DrillReport> {
  const { openSqliteStore } = await import("../ledger/sqlite/index.ts");
  const to = await openSqliteStore(join(dir, "ledger.db"));
  try {
    const filesDir = join(dir, "files");
    const { heads, ...restored } = await restoreBackup({ ...opts, to, filesDir, partial: true });
    const compared = await compare({ live: opts.store, restored: to, heads });
    const held = new Set([...Object.keys(heads), ...restored.losses.map(({ ledger }) => ledger ?? "")]);
    const wanting = await wantingIn({ ...opts, at: restored.at, isNewest: opts.at === undefined, held });
    const problems = [restored.losses, restored.passedOver, compared.differences, wanting.absent];
    const ok = wanting.missing === undefined && problems.every((one) => one.length === 0);
    return { ok, restored, ...compared, ...wanting };
  } finally {
    await to.close();
  }
}

interface Wanting {
  store: Store;
  vault: Vault;
  /** When the backup was made. */
  at: number;
  isNewest: boolean;
  /** Ledgers that it names. */
  held: ReadonlySet<string>;
}

/** What the store itself knows of its backups: a place says nothing of what was taken out of it. */
async function wantingIn({
  store,
  vault,
  at,
  isNewest,
  held,
}: Wanting): Promise<Pick<DrillReport, "missing" | "absent">> {
  const last = isNewest ? await lastBackupTo(store, vault) : undefined;
  const isThere = last === undefined || (await listManifests(vault)).some(({ id }) => id >= last.manifest);
  const absent: string[] = [];
  for (const { ledger, createdAt, updatedAt } of await headsOf(store)) {
    // One that was imported since may be older than the backup, but for what is recorded of it last.
    const isOlder = createdAt < at && updatedAt < at;
    if ((isOlder || last?.seqs.has(ledger)) && isOurName(ledger) && !held.has(ledger)) absent.push(ledger);
  }
  return { absent, ...(!isThere && { missing: last.manifest }) };
}

interface Both {
  live: Store;
  restored: Store;
  heads: RestoredBackup["heads"];
}

async function compare({
  live,
  restored,
  heads,
}: Both): Promise<Pick<DrillReport, "same" | "removedSince" | "differences">> {
  const removedSince: string[] = [];
  const differences: DrillReport["differences"] = [];
  let same = 0;
  for (const [ledger, { head, sum }] of Object.entries(heads)) {
    const there = await live.head(ledger);
    if (there === 0) {
      removedSince.push(ledger);
      continue;
    }
    const content = await contentHashOf(live, ledger, { upTo: head });
    if (content.sum !== sum) {
      const what =
        content.events < head ? `the store ends at event ${content.events}` : "the store says something else";
      differences.push({ ledger, seq: Math.min(head, content.events + 1), what });
    } else if (ledger.startsWith("ctx_") && !(await isSameState({ live, restored, ledger, head }))) {
      differences.push({ ledger, seq: head, what: "its events give another state when they are folded" });
    } else same++;
  }
  return { same, removedSince, differences };
}

const isSameState = async ({ live, restored, ledger, head }: Omit<Both, "heads"> & { ledger: string; head: Seq }) =>
  (await contextStateHash(live, ledger, head)) === (await contextStateHash(restored, ledger, head));
