// Agents on several machines: paths mean something on one of them only. Whoever takes an agent elsewhere brings it to the project's folder there.
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { thisMachine } from "../ledger/holder.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EventInput, Lease, Store } from "../ledger/store.ts";
import { viewOf } from "./agent.ts";
import { type AgentView, noteFacts } from "./seams.ts";
import { transcriptIn } from "./transcript.ts";

/** Where an agent's files are. `tree`: it has one of its own there, a worktree. */
interface Whereabouts {
  isHere: boolean;
  machine?: string;
  tree?: string;
}

export interface OwnPlace {
  /** The project's folder on this machine. */
  root: string;
  /** Whether a folder of this machine is the project's. What stands in a store that others write to decides nothing here. */
  isOwn?: ((folder: string) => boolean) | undefined;
}

function whereaboutsOf(ledger: Ledger, agent: string, { root: here, isOwn = () => true }: OwnPlace): Whereabouts {
  const { root, state } = viewOf(ledger, agent);
  const machine = state.machine ?? transcriptIn(ledger.state).machine;
  const isProject =
    state.root === undefined && (root === here || root.startsWith(`${here}/`)) && isFolder(root) && isOwn(root);
  // Containers of one image may have the same machine's name: the folder has to be there too.
  const isHere = isProject || (isFolder(root) && (machine === undefined || machine === thisMachine()) && isOwn(root));
  return { isHere, ...(machine !== undefined && { machine }), ...(state.root !== undefined && { tree: state.root }) };
}

/** Contract: what is to be recorded when that agent is taken here; nothing where its files are here. */
export function arrival(ledger: Ledger, agent: string, place: OwnPlace): Omit<EventInput, "actor">[] {
  const { isHere, machine, tree } = whereaboutsOf(ledger, agent, place);
  const here = place.root;
  if (isHere) return [];
  const view = viewOf(ledger, agent);
  const moved = { cwd: here, root: null, home: here, machine: thisMachine() };
  const text = tree === undefined ? goneFolder(view, here) : goneTree(tree, { machine, here });
  const isNews = view.state.items.length > 0 || tree !== undefined;
  return [{ type: "agent.moved", data: moved }, ...(isNews ? noteFacts({ origin: "holdfast", text }) : [])];
}

const goneFolder = ({ root }: AgentView, here: string): string =>
  `You go on on another machine: the project's folder is ${here} here, and ${root} is not here. What was changed there and was not committed and pushed is not in it. Look before you rely on a file.`;

const goneTree = (tree: string, { machine = "unknown", here }: { machine: string | undefined; here: string }): string =>
  `The machine of your worktree ${tree} is gone (${machine}): what you changed there and did not commit and push is lost to you. You go on on another machine, in ${here}.`;

function isFolder(path: string): boolean {
  return path !== "" && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

const nameOf = (machine: string): string => `machine:${machine}`;
/** How often a machine that was not seen is asked for, and whether nobody says any more that this one lives. */
const ASK_MS = 1_000;
const GRACE_MS = 30_000;

export interface Machines {
  /** So long a machine counts as living after its last host was seen. */
  graceMs: number;
  /** Contract: whether an agent of that context may be taken here: one with a worktree stays with its machine while that lives. */
  mayRunHere(ledger: Ledger, agent: string): Promise<boolean>;
  /** Contract: whether hosts of that machine are seen, or were a while ago. */
  lives(machine: string): Promise<boolean>;
  /** Says that this machine lives, until the signal; one of its processes does. */
  announce(signal: AbortSignal): Promise<void>;
}

export function createMachines(store: Store, opts: { here: OwnPlace }): Machines {
  const asked = new Map<string, { at: number; isSeen: boolean; seenAt: number }>();

  async function lives(machine: string): Promise<boolean> {
    const before = asked.get(machine);
    const now = Date.now();
    if (!before || now - before.at >= ASK_MS) {
      const by = await store.leases.inspect(nameOf(machine));
      const isSeen = by !== undefined && by.expiresInMs > 0;
      asked.set(machine, { at: now, isSeen, seenAt: isSeen ? now : (before?.seenAt ?? now) });
    }
    const { isSeen, seenAt } = asked.get(machine)!;
    return isSeen || now - seenAt < machines.graceMs;
  }

  const machines: Machines = {
    graceMs: Number(process.env.HOLDFAST_MACHINE_GRACE_MS ?? GRACE_MS),
    lives,
    async mayRunHere(ledger, agent) {
      const { isHere, machine, tree } = whereaboutsOf(ledger, agent, opts.here);
      return isHere || tree === undefined || machine === undefined || !(await lives(machine));
    },
    async announce(signal) {
      while (!signal.aborted) {
        const lease = await store.leases.acquire(nameOf(thisMachine())).catch(() => undefined);
        // Not released at the end: a host that is started again finds its agents where they were.
        if (lease && !("held" in lease)) await keptUntil(lease, signal);
        await sleep(ASK_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
  return machines;
}

/** Resolves when it is lost, or on abort. */
function keptUntil(lease: Lease, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = lease.keep(resolve);
    const end = () => {
      stop();
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
