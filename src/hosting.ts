// Owns whom a harness hosts: the team of one context, or of every context of the store with the agents whose schedule is due.
import type { Ledger } from "./ledger/ledger.ts";
import type { Store } from "./ledger/store.ts";
import { contextState } from "./loop/agent.ts";
import { type Host, LEAD } from "./loop/host.ts";
import { createHosting, type Hosting, type HostingOptions } from "./loop/hosting.ts";
import { wokenBy } from "./mechanisms/cron/index.ts";
import { hostedMates, type TeamState, teamIn } from "./mechanisms/team/index.ts";

export interface HostTeamsOptions extends Pick<HostingOptions, "onTaken" | "onProgress" | "onProblem"> {
  /** Only the teammates of this context: its lead is somebody else's. Default: all contexts, leads too. */
  context?: string;
  /** Agents that run at once here (default 8). */
  concurrency?: number;
}

export type { Hosting } from "./loop/hosting.ts";

const mates = (ledger: Ledger): string[] =>
  hostedMates(ledger.state.slices.team as TeamState, contextState(ledger).agents);

export function hostTeams(
  { host, store }: { host: Host; store: Store },
  { context, concurrency = 8, ...told }: HostTeamsOptions = {},
): Hosting {
  if (context !== undefined) {
    return createHosting({ host, store, concurrency, contexts: () => [context], agents: mates, ...told });
  }
  /** Whose schedule has come, by context. */
  let scheduled = new Map<string, Set<string>>();
  const readDue = async (): Promise<string[]> => {
    const rows = await store.due(Date.now());
    scheduled = new Map();
    for (const row of rows) {
      const woken = wokenBy(row.agent);
      if (woken) scheduled.set(woken.context, (scheduled.get(woken.context) ?? new Set()).add(woken.agent));
    }
    return [...new Set([...rows.flatMap((row) => teamIn(row.agent) ?? []), ...scheduled.keys()])];
  };
  return createHosting({
    host,
    store,
    concurrency,
    contexts: readDue,
    agents: (ledger) => [
      ...new Set(
        [...mates(ledger), ...(scheduled.get(ledger.name) ?? []), ...leadOf(ledger)].filter((agent) =>
          mayTake(ledger, agent),
        ),
      ),
    ],
    due: async () => {
      const before = [...scheduled.keys()].length;
      await readDue();
      return scheduled.size > 0 && scheduled.size !== before;
    },
    ...told,
  });
}

/** A lead whose turn someone's own input began is theirs to take up again. */
const mayTake = (ledger: Ledger, agent: string): boolean => {
  const state = contextState(ledger).agents[agent];
  return (
    state !== undefined && (agent !== LEAD || ((state.turn?.cause ?? "wake") === "wake" && state.queue.length === 0))
  );
};

/** It hears from its team also when nobody sits before it. */
const leadOf = (ledger: Ledger): string[] => (mates(ledger).length > 0 ? [LEAD] : []);
