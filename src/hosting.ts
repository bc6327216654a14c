// Owns whom a harness hosts: the team of one context, or of every context of the store with the agents whose schedule is due.
import type { Ledger } from "./ledger/ledger.ts";
import type { Store } from "./ledger/store.ts";
import { contextState } from "./loop/agent.ts";
import { type Host, LEAD } from "./loop/host.ts";
import { createHosting, type Hosting, type HostingOptions } from "./loop/hosting.ts";
import { armedAt, nextFiring } from "./mechanisms/cron/index.ts";
import { hasEndedJob } from "./mechanisms/jobs/index.ts";
import { BOARD_LEDGER } from "./mechanisms/tasks/index.ts";
import { hostedMates, type TeamState } from "./mechanisms/team/index.ts";

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
  const agents = context === undefined ? hosted : mates;
  const contexts = async (): Promise<string[]> =>
    context === undefined ? [...new Set((await store.due(Date.now())).map((wake) => wake.context))] : [context];
  const due = (ledger: Ledger) => anyDue(ledger, agents(ledger));
  return createHosting({ host, store, concurrency, contexts, agents, shared: [BOARD_LEDGER], due, ...told });
}

const hosted = (ledger: Ledger): string[] =>
  Object.keys(contextState(ledger).agents).filter((agent) => mayTake(ledger, agent));

/** Teammates; whoever has a schedule; a lead that has, or had, a team. A turn that someone's own input began is theirs to take up again. */
function mayTake(ledger: Ledger, agent: string): boolean {
  if (mates(ledger).includes(agent)) return true;
  const state = contextState(ledger).agents[agent]!;
  if ((state.turn?.cause ?? "wake") !== "wake" || state.queue.length > 0) return false;
  const team = (ledger.state.slices.team as TeamState).mates;
  if (team[agent]) return false; // it has shut down
  return (agent === LEAD && Object.keys(team).length > 0) || armedAt(ofAgent(ledger, agent)) !== null;
}

const ofAgent = (ledger: Ledger, agent: string) => ({
  agent,
  slice: <T>(name: string) => ledger.state.slices[name] as T,
});

/** What nobody writes down when it happens: a schedule has come, a job has ended. */
const anyDue = (ledger: Ledger, agents: string[]): boolean =>
  agents.some((agent) => {
    const of = ofAgent(ledger, agent);
    return hasEndedJob(of) || (nextFiring(of) ?? Number.POSITIVE_INFINITY) <= Date.now();
  });
