// The drill: a backup restored to a temporary place, compared with the store that it was made of, and removed.
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextStateHash } from "../contexts/verify.ts";
import { contentHashOf } from "../ledger/content-hash.ts";
import type { Seq, Store } from "../ledger/store.ts";
import { type RestoreBackupOptions, type RestoredBackup, restoreBackup } from "./restore.ts";

export interface DrillReport {
  /** Everything in the backup can be restored, and is what the store says. */
  ok: boolean;
  restored: Omit<RestoredBackup, "heads">;
  /** Ledgers that are the same in both, up to what is backed up. */
  same: number;
  /** In the backup, and no longer in the store. */
  removedSince: string[];
  differences: { ledger: string; seq: Seq; what: string }[];
}

/** Contract: the store is only read; nothing is left behind. */
export async function runDrill(
  opts: Omit<RestoreBackupOptions, "to" | "filesDir" | "partial"> & { store: Store },
): Promise<DrillReport> {
  const dir = fs.mkdtempSync(join(tmpdir(), "holdfast-drill-"));
  try {
    const { openSqliteStore } = await import("../ledger/sqlite/index.ts");
    const to = await openSqliteStore(join(dir, "ledger.db"));
    try {
      const filesDir = join(dir, "files");
      const { heads, ...restored } = await restoreBackup({ ...opts, to, filesDir, partial: true });
      const compared = await compare({ live: opts.store, restored: to, heads });
      const ok = restored.losses.length === 0 && restored.passedOver.length === 0 && compared.differences.length === 0;
      return { ok, restored, ...compared };
    } finally {
      await to.close();
    }
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
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
