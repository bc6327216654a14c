// Whom a harness hosts: the team of one context, or every agent of the store that some mechanism has hosts for.
import { isContextId } from "./contexts/listing.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Store, Wake } from "./ledger/store.ts";
import { contextState } from "./loop/agent.ts";
import { createFairSlots, type FairSlots } from "./loop/fair-slots.ts";
import type { Host } from "./loop/host.ts";
import { createHosting, type Hosting, type HostingOptions } from "./loop/hosting.ts";
import type { Machines } from "./loop/machine.ts";

export interface HostTeamsOptions extends Pick<HostingOptions, "onTaken" | "onProgress" | "onProblem"> {
  /** Only those of this context that hosts run in every turn: its lead is somebody else's. Default: all contexts, leads too. */
  context?: string;
  /** Agents that run at once here (default 8); or slots that others share. */
  concurrency?: number | FairSlots;
  /** Of all contexts, those that are hosted. Default: all. */
  accepts?: (context: string) => Promise<boolean>;
  /** What the store said is due, each time it was asked. */
  onDue?: (wakes: readonly Wake[]) => void;
  /** So long a machine counts as living after the last host on it was seen (default 30 s): its agents with worktrees wait for it. */
  machineGraceMs?: number;
}

export function hostTeams(
  { host, store, machines }: { host: Host; store: Store; machines?: Machines | undefined },
  { context, concurrency = 8, machineGraceMs, accepts, onDue, ...told }: HostTeamsOptions = {},
): Hosting {
  /** A turn that someone's own input began is theirs to take up again, but for agents that live by hosts. */
  function mayTake(ledger: Ledger, agent: string): boolean {
    const hosts = host.outstanding(ledger, agent).flatMap((one) => one.hosts ?? []);
    if (hosts.includes("every turn")) return true;
    const { turn, queue } = contextState(ledger).agents[agent]!;
    const begunByInput = (turn?.cause ?? "wake") !== "wake" || queue.length > 0;
    return context === undefined && hosts.length > 0 && !begunByInput;
  }
  const agents = (ledger: Ledger) => Object.keys(contextState(ledger).agents).filter((one) => mayTake(ledger, one));
  async function dueContexts(): Promise<string[]> {
    const wakes = (await store.due(Date.now())).filter((wake) => isContextId(wake.context));
    onDue?.(wakes);
    const found = [...new Set(wakes.map((wake) => wake.context))];
    if (!accepts) return found;
    const accepted: string[] = [];
    for (const one of found) if (await accepts(one)) accepted.push(one);
    return accepted;
  }
  const slots = typeof concurrency === "number" ? createFairSlots(concurrency) : concurrency;
  if (machines && machineGraceMs !== undefined) machines.graceMs = machineGraceMs;
  const runsHere = (ledger: Ledger, agent: string) => host.outstanding(ledger, agent).some((one) => one.runsHere);
  return createHosting({
    ...{ host, store, slots, agents, ...told },
    ...(machines && { staysHeld: runsHere, mayRunHere: machines.mayRunHere, beside: machines.announce }),
    shared: host.alsoWokenBy,
    contexts: () => (context === undefined ? dueContexts() : [context]),
    // What nobody writes down when it happens: a schedule has come, a job has ended.
    due: (ledger) =>
      agents(ledger).some((agent) =>
        host.outstanding(ledger, agent).some(({ dueAt }) => dueAt !== undefined && dueAt <= Date.now()),
      ),
  });
}
