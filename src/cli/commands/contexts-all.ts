// `holdfast contexts ls --all`: the contexts of every project of this user. A store that cannot be read is a line, and the others are shown.
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import { type KnownProject, listProjects } from "../../contexts/project/links.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine } from "../../front/presentation/printable.ts";
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import { openStore, type StorePlace } from "../../ledger/open-store.ts";
import type { PlaceFlags } from "../flags.ts";

export interface InProject extends ContextInfo {
  project: { id: string; folder: string };
}

/** Newest first, over all projects. */
export async function contextsOfAll(flags: PlaceFlags): Promise<InProject[]> {
  const found: InProject[] = [];
  for (const known of listProjects({ cwd: flags.cwd, ...(flags.state && { state: flags.state }) })) {
    if (!known.ledgers) continue;
    const project = { id: known.id, folder: known.folders[0]?.path ?? "" };
    try {
      for (const info of await listIn(known.ledgers, (why) => tell(known, why, flags)))
        found.push({ ...info, project });
    } catch (error) {
      tell(known, messageOf(error), flags, isHoldfastError(error, "damaged"));
    }
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
}

async function listIn(ledgers: StorePlace, say: (why: string) => void): Promise<ContextInfo[]> {
  const store = await openStore(ledgers, { readOnly: true });
  try {
    if (store.readOnly?.code === "upgrade" || store.readOnly?.restoring) say(store.readOnly.message);
    return await listContexts(store);
  } finally {
    await store.close();
  }
}

function tell({ id, folders, stateDir }: KnownProject, why: string, flags: PlaceFlags, isDamaged = false): void {
  const [folder] = folders;
  const where = folder?.path ?? stateDir;
  const repair =
    isDamaged && folder?.there ? ` (${commandLine(["contexts", "verify", "--repair"], flags, where)})` : "";
  process.stderr.write(`holdfast: project ${id.slice(0, 8)}, ${oneLine(where, 200)}: ${oneLine(why, 300)}${repair}\n`);
}
