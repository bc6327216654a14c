// Worktrees that agents made on other machines, as the ledgers of a shared store tell of them: they can be named here, not looked at.
import { basename, dirname } from "node:path";
import { contextEntries } from "../../contexts/listing.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { isRecord } from "../../ledger/guards.ts";
import { shownMachine, thisMachine } from "../../ledger/holder.ts";
import type { Store, StoredEvent } from "../../ledger/store.ts";
import { branchOf, isWorktreeName } from "./port.ts";

export interface TreeElsewhere {
  name: string;
  branch: string;
  /** Its folder on that machine. */
  path: string;
  machine: string;
  /** `CONTEXT/AGENT` that made it or works in it. */
  madeBy: string;
}

/** What tells where an agent is and what it made there. */
const TYPES = ["context.created", "agent.moved", "worktree.created", "worktree.kept", "worktree.removed"];

/** Contract: none on a store of one machine; what a row says that is no name of a worktree is passed over. */
export async function treesElsewhere(store: Store): Promise<TreeElsewhere[]> {
  if (store.reach === "machine") return [];
  const all = await recordedTrees(store);
  return all.filter(({ machine }) => machine !== thisMachine()).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Says in the ledger that tells of it that a person removed it: other machines know of it by that alone. */
export async function tellRemoved(
  store: Store,
  removed: { name: string; path: string; branch: string; head: string },
): Promise<void> {
  if (store.reach === "machine") return;
  const { name, path, branch, head } = removed;
  const tree = (await recordedTrees(store)).find((one) => one.name === name && one.path === path);
  const [ledger] = tree?.madeBy.split("/") ?? [];
  if (ledger === undefined) return;
  const data = { name, path, branch, head };
  await store.append([{ ledger, events: [{ type: "worktree.removed", v: 1, actor: "user", data }] }]);
}

/** Those that are not removed. */
async function recordedTrees(store: Store): Promise<TreeElsewhere[]> {
  const found = new Map<string, TreeElsewhere & { at: number }>();
  const removed = new Map<string, number>();
  for await (const { ledger } of contextEntries(store)) {
    for await (const { tree, at, isRemoved } of treesIn(store, ledger)) {
      const key = `${tree.name} ${tree.path}`;
      if (isRemoved) removed.set(key, Math.max(at, removed.get(key) ?? 0));
      else if (at >= (found.get(key)?.at ?? 0)) found.set(key, { ...tree, at });
    }
  }
  return [...found].flatMap(([key, { at, ...tree }]) => (at > (removed.get(key) ?? 0) ? [tree] : []));
}

async function* treesIn(store: Store, context: string) {
  /** Of each agent; "" stands for the context itself. */
  const machines = new Map<string, string>();
  for await (const event of store.read(context, { types: TYPES })) {
    const { type, actor, at } = event;
    const { machine: now, name, path } = factsIn(event);
    if (now !== undefined && type !== "worktree.created") machines.set(type === "context.created" ? "" : actor, now);
    const machine = now ?? machines.get(actor) ?? machines.get("");
    if (machine === undefined || path === undefined || name === undefined || !isWorktreeName(name)) continue;
    const tree: TreeElsewhere = { name, branch: branchOf(name), path, machine, madeBy: `${context}/${actor}` };
    yield { tree, at, isRemoved: type === "worktree.removed" };
  }
}

function factsIn({ type, data }: StoredEvent): { machine?: string; name?: string; path?: string } {
  if (!isRecord(data)) return {};
  const { machine, root } = data;
  const where = typeof machine === "string" ? { machine } : {};
  if (type === "context.created") return where;
  // A tree of its own lies in the folder of that name of a state directory; any other root is none.
  if (type === "agent.moved")
    return typeof root === "string" && basename(dirname(root)) === "worktrees"
      ? { ...where, name: basename(root), path: root }
      : where;
  const { name, path } = data;
  return { ...where, ...(typeof name === "string" && { name }), ...(typeof path === "string" && { path }) };
}

/** In few words, for people. */
export const machineText = (machine: string): string => `on another machine (${shownMachine(machine)})`;

export const notHere = ({ name, branch, machine, path }: TreeElsewhere): HoldfastError =>
  new HoldfastError(
    "conflict",
    `the worktree ${name} is ${machineText(machine)}, in ${path}: do that there, or push its branch ${branch} there and fetch it here`,
  );
