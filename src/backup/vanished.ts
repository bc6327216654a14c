// Ledgers that are gone from the store though nobody removed them: a server that began empty, a store put back to an older state. The last backup that has them is held.
import type { Store } from "../ledger/store.ts";
import { lastBackupTo } from "./last-backup.ts";
import type { BackupManifest } from "./manifest.ts";
import type { Vault } from "./vault.ts";

const HELD = "held/";

/**
 * What was removed here was recorded here as backed up before; with the ledgers that a store loses it loses that record too.
 * `removed`: in the last backup, and no longer in the store.
 */
export async function vanishedOf(store: Store, vault: Vault, removed: readonly string[]): Promise<string[]> {
  if (removed.length === 0) return [];
  const recorded = await lastBackupTo(store, vault);
  return removed.filter((ledger) => !recorded?.seqs.has(ledger));
}

/** Contract: before the backup that no longer has them is written, so that no prune comes between. */
export async function holdBackup(vault: Vault, { id }: BackupManifest, vanished: readonly string[]): Promise<void> {
  await vault.put(HELD + id, Buffer.from(JSON.stringify(vanished)));
}

/** The ids of backups that stay until somebody says otherwise. */
export async function heldBackups(vault: Vault): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { name } of vault.list(HELD)) ids.add(name.slice(HELD.length));
  return ids;
}

export const letGo = (vault: Vault, id: string): Promise<void> => vault.remove(HELD + id);
