// Looking in the other projects for an id that is not of this one: whoever types it is only in the wrong folder. Reads, and changes nothing.
import { type ContextInfo, listContexts } from "../contexts/listing.ts";
import { listProjects } from "../contexts/project/links.ts";
import { shellWord } from "../front/presentation/command-line.ts";
import { openStore, type StorePlace } from "../ledger/open-store.ts";
import type { Store } from "../ledger/store.ts";
import type { PlaceFlags } from "./flags.ts";
import { idsMeant } from "./ids.ts";

const CONTEXT = { prefix: "ctx_", idOf: ({ id }: ContextInfo) => id };

/** The folder of the context that the id, or a part of one, means in another project. */
export const contextElsewhere = (given: string, flags: PlaceFlags): Promise<string | undefined> =>
  inOthers(flags, async (store, folder) => {
    const [found] = idsMeant(await listContexts(store), given, CONTEXT);
    return found && (found.root || folder);
  });

/** Contract: the first that `look` finds; a store that cannot be read is passed over. */
export async function inOthers(
  flags: PlaceFlags,
  look: (store: Store, folder: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const { here, ledgers, folders } of listProjects({
    cwd: flags.cwd,
    ...(flags.state && { state: flags.state }),
  })) {
    const folder = folders.find(({ there }) => there)?.path;
    if (here || folder === undefined || !ledgers) continue;
    const found = await lookIn(ledgers, (store) => look(store, folder)).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function lookIn<T>(ledgers: StorePlace, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(ledgers, { readOnly: true });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** What to add to the line that was typed. */
export const placeHint = (folder: string): string =>
  `it belongs to ${shellWord(folder)}: add --cwd ${shellWord(folder)}`;
