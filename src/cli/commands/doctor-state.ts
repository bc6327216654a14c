// What doctor says about the state: whether it can be reached and written, what it promises, what may be lost.
import fs from "node:fs";
import type { Project } from "../../contexts/project.ts";
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import { openStore, type StorePlace } from "../../ledger/open-store.ts";
import { addressed } from "../../ledger/server-address.ts";
import type { Store, StoreDurability } from "../../ledger/store.ts";
import type { PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import type { Diagnosis } from "./doctor.ts";

/** How often a server is asked for how long it takes. */
const ASKED = 9;

export interface DiagnosedStore {
  url: string;
  server: string;
  durability: StoreDurability;
  /** Whether a setting of the server lets it lose what it has acknowledged. */
  mayLose: boolean;
  /** Why others on the network may read or write it; left out where nothing is wrong. */
  exposed?: string[];
  /** The median of a few questions. */
  latencyMs: number;
}

export async function state(flags: PlaceFlags): Promise<Diagnosis> {
  try {
    const project = await projectOf(flags);
    const found = onNetworkFileSystem(project);
    if (found) return found;
    return "file" in project.ledgers ? await inFile(project.ledgers, flags) : await onServer(project.ledgers, flags);
  } catch (error) {
    const todo = isHoldfastError(error, "unreachable") ? FIND_IT : isHoldfastError(error) ? undefined : MAKE_ROOM;
    return { what: "state", ok: false, says: messageOf(error), ...(todo && { do: todo }) };
  }
}

const FIND_IT = "start the server, or correct its address (--state or $HOLDFAST_STATE)";
const KEEP_IT = "change that setting; as it is `holdfast worker` takes this store only with --accept-loss";
const CLOSE_IT =
  "whoever can write to it works as its users do: give the server a password (an ACL user) and TLS (rediss://)";
const MAKE_ROOM = "set XDG_STATE_HOME or --state to a folder that can be written";

async function inFile(ledgers: { file: string }, flags: PlaceFlags): Promise<Diagnosis> {
  const store = await openStore(ledgers);
  const problem = await notForWriting(store, flags).finally(() => store.close());
  return problem ?? { what: "state", ok: true, says: `${ledgers.file} (every append is synced to disk)` };
}

async function onServer(ledgers: Extract<StorePlace, { server: string }>, flags: PlaceFlags): Promise<Diagnosis> {
  const store = await openStore(ledgers, { readOnly: true });
  try {
    const { url, server = "a server", durability } = store;
    const mayLose = durability.class !== "power-safe" && durability.class !== "replica-confirmed";
    const latencyMs = await latencyOf(store);
    const { exposureOf, parseRedisUrl } = await import("../../ledger/redis/address.ts");
    const exposed = exposureOf(parseRedisUrl(addressed(ledgers.server, ledgers.project)));
    const says = [`${url}: ${server}, answers in ${latencyMs} ms`, durability.says, ...exposed].join("; ");
    const seen = { url, server, durability, mayLose, latencyMs, ...(exposed.length > 0 && { exposed }) };
    const found = { what: "state", says, store: seen };
    const problem = await notForWriting(store, flags);
    if (problem) return problem;
    if (store.unfit)
      return { ...found, says: `${url}: ${server}: ${store.unfit.why}`, ok: false, do: store.unfit.remedy };
    const todo = [...(mayLose ? [KEEP_IT] : []), ...(exposed.length > 0 ? [CLOSE_IT] : [])];
    return todo.length === 0 ? { ...found, ok: true } : { ...found, ok: false, warning: true, do: todo.join("; ") };
  } finally {
    await store.close();
  }
}

async function notForWriting(store: Store, flags: PlaceFlags): Promise<Diagnosis | undefined> {
  const { readOnly } = store;
  if (readOnly?.restoring) {
    const { goingOn } = await import("../unfinished-restore.ts");
    return { what: "state", ok: false, says: readOnly.message, do: await goingOn(store, flags) };
  }
  if (!readOnly || readOnly.code === "refused") return undefined; // we opened it so
  return { what: "state", ok: false, says: readOnly.message, do: "`holdfast contexts verify` says more" };
}

/** In milliseconds, to a hundredth. */
async function latencyOf(store: Store): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < ASKED; i++) {
    const from = performance.now();
    await store.head("doctor");
    took.push(performance.now() - from);
  }
  const median = took.sort((a, b) => a - b)[ASKED >> 1] ?? 0;
  return Math.round(median * 100) / 100;
}

/** Where locks of other machines are not seen. Also beside a server: jobs and checkpoints lie there. */
function onNetworkFileSystem({ stateDir }: Project): Diagnosis | undefined {
  const kind = process.platform === "linux" ? NETWORK_FILE_SYSTEMS[fs.statfsSync(stateDir).type] : undefined;
  if (!kind) return undefined;
  const says = `${stateDir} is on ${kind}, where locks of other hosts are not seen`;
  return { what: "state", ok: false, says, do: "set XDG_STATE_HOME to a local disk" };
}

const NETWORK_FILE_SYSTEMS: Record<number, string> = {
  26985: "NFS",
  4283649346: "CIFS",
  4266872130: "SMB",
  16914839: "9p",
  1702057286: "FUSE",
};
