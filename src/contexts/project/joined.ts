// Which stores of servers a project of this machine works on: a name there that is another folder's is not taken without a word.
import path from "node:path";
import { isRecord } from "../../ledger/guards.ts";
import type { Store } from "../../ledger/store.ts";
import { contextEntries } from "../listing.ts";
import type { Project } from "../project.ts";
import { idAt, isSameThere } from "./here.ts";
import { everyPlace } from "./match.ts";
import { isUnlinked, parseObject, projectDir, projectNames, readOrigin, readRecordText, writeWhole } from "./places.ts";

/**
 * What it means that this folder works on that store. `joined`: others did before, and on this machine nobody: a clone on another machine, or
 * a mistake, which nothing can tell apart that a repository does not bring itself. `doubt`: another folder of this machine does.
 */
export type Joining =
  | { kind: "known" }
  | { kind: "begun" }
  | { kind: "joined"; contexts: number; machines: string[] }
  | { kind: "doubt"; other: { id: string; path: string } };

const FILE = "joined.json";
/** So many contexts are asked where they began. */
const MOST_ASKED = 50;

/** Contract: what is joined or begun is recorded, and is known the next time; a doubt records nothing. */
export async function joinStore(store: Store, { place, stateDir }: Project): Promise<Joining> {
  const { identity } = store;
  if (!place || store.reach === "machine" || identity === "") return { kind: "known" };
  const before = storesOf(stateDir);
  if (before.includes(identity)) return { kind: "known" };
  const other = whoElse(place.home, { identity, own: path.basename(stateDir) });
  if (other) return { kind: "doubt", other };
  const found = await contentOf(store);
  try {
    writeWhole(place.home, path.join(stateDir, FILE), { stores: [...before, identity] });
  } catch {
    // A state directory that can only be read: it is said again.
  }
  return found.contexts === 0 ? { kind: "begun" } : { kind: "joined", ...found };
}

function storesOf(stateDir: string): string[] {
  const stores = parseObject(readRecordText(path.join(stateDir, FILE)))?.stores;
  return Array.isArray(stores) ? stores.filter((one) => typeof one === "string") : [];
}

/** Another project of this user whose folder is still there. */
function whoElse(home: string, { identity, own }: { identity: string; own: string }) {
  const names = projectNames(home).filter((name) => name !== own && !isUnlinked(home, name));
  const places = everyPlace(home);
  for (const name of names) {
    if (!storesOf(projectDir(home, name)).includes(identity)) continue;
    const at = places
      .filter((one) => one.project === name)
      .flatMap(({ self, paths }) => paths.map((one) => ({ self, one })));
    const there = at.find(({ self, one }) => isSameThere(self, idAt(one) ?? ""));
    const id = readOrigin(home, name)?.id;
    if (there && id !== undefined) return { id, path: there.one };
  }
  return undefined;
}

async function contentOf(store: Store): Promise<{ contexts: number; machines: string[] }> {
  const machines = new Set<string>();
  let contexts = 0;
  for await (const { ledger } of contextEntries(store)) {
    if (contexts++ >= MOST_ASKED) continue;
    for await (const { data } of store.read(ledger, { types: ["context.created"] })) {
      if (isRecord(data) && typeof data.machine === "string") machines.add(data.machine);
      break;
    }
  }
  return { contexts, machines: [...machines] };
}
