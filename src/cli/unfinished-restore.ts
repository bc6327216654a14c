// What is said of a store into which a restore has not ended: what would bring it to its end, as it can be typed.
import { unfinishedRestore } from "../backup/own-ledgers.ts";
import { commandLine } from "../front/presentation/command-line.ts";
import type { Store } from "../ledger/store.ts";
import type { PlaceFlags } from "./flags.ts";

export async function unfinishedText(store: Store, flags: PlaceFlags): Promise<string> {
  return `a restore into this store has not ended: it has only a part of the backup, and nothing is recorded until it has all: ${await goingOn(store, flags)}`;
}

/** The command that goes on with it. */
export async function goingOn(store: Store, flags: PlaceFlags): Promise<string> {
  const begun = await unfinishedRestore(store);
  if (!begun) return commandLine(["backup", "restore"], flags);
  const { place, project, partial, keyFile } = begun;
  const more = [...(partial ? ["--partial"] : []), ...(keyFile === undefined ? [] : ["--key-file", keyFile])];
  return commandLine(["backup", "restore", place, "--project", project, ...more], flags);
}
