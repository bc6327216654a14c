// The last backup of a project to a place, as the store remembers it.
import type { Store } from "../ledger/store.ts";
import { type LastBackup, lastBackups } from "./own-ledgers.ts";
import { plainName, type Vault } from "./vault.ts";

/** Undefined: it knows of none. */
export async function lastBackupTo(
  store: Pick<Store, "list">,
  { place, project }: Pick<Vault, "place" | "project">,
): Promise<LastBackup | undefined> {
  const isOfProject = (one: LastBackup) => one.project === undefined || plainName(one.project) === plainName(project);
  return (await lastBackups(store)).find((one) => one.place === place.shown && isOfProject(one));
}
