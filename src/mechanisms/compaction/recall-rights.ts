// Whose conversation an agent may read: its own, and those of agents that it started, or that these started. By what is recorded of their creation.
import { HoldfastError } from "../../ledger/error.ts";
import { own } from "../../ledger/own.ts";
import type { ContextState } from "../../loop/transcript.ts";

/** Contract: throws `refused` in one line; nobody reads upwards or sideways. */
export function refuseForeign({ agents }: ContextState, reader: string, agent: string): void {
  if (agent === reader || isStartedBy(agents, agent, reader)) return;
  const started = Object.keys(agents).filter((name) => isStartedBy(agents, name, reader));
  const which = started.length === 0 ? "you have started none" : `those are ${listed(started)}`;
  throw new HoldfastError(
    "refused",
    `${agent.slice(0, 60)} is no agent that you started: recall reads your own conversation and those of agents you started (${which})`,
  );
}

/** Itself, or through others. Contract: ends, whatever is recorded. */
function isStartedBy(agents: ContextState["agents"], agent: string, by: string): boolean {
  const passed = new Set<string>();
  for (let at = own(agents, agent)?.startedBy; at !== undefined && !passed.has(at); at = own(agents, at)?.startedBy) {
    if (at === by) return true;
    passed.add(at);
  }
  return false;
}

const MOST_LISTED = 20;

const listed = (names: readonly string[]): string =>
  [...names.slice(0, MOST_LISTED), ...(names.length > MOST_LISTED ? ["others"] : [])].join(", ");
