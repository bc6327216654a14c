// One agent as one line: what it is, what it does or waits for, what it used.
import { LEAD } from "../../loop/agent.ts";
import type { AgentState } from "../../loop/transcript.ts";
import { doing } from "../../mechanisms/team/roster.ts";
import type { TeamState } from "../../mechanisms/team/state.ts";
import { costUsd } from "../../models/catalogue.ts";
import type { AgentRow } from "../monitor/context-api.ts";
import { oneLine } from "../presentation/printable.ts";
import { callTitle } from "../presentation/titles.ts";

/** `isInterrupted`: its turn is open, and its process gone. */
export function agentRow(
  agent: AgentState,
  team: TeamState | undefined,
  { isInterrupted }: { isInterrupted: boolean },
): AgentRow {
  const mate = team?.mates[agent.name];
  const usd = Object.entries(agent.usageByModel).reduce((sum, [model, usage]) => sum + (costUsd(model, usage) ?? 0), 0);
  const says =
    mate && team
      ? mate.status === "left"
        ? "has shut down"
        : doing(mate, team, agent)
      : plainDoing(agent, isInterrupted);
  return {
    ...{
      name: oneLine(agent.name, 60),
      role: mate ? oneLine(mate.role, 80) : agent.name === LEAD ? "lead" : "subagent",
    },
    ...{ doing: oneLine(says, 200), rounds: agent.rounds, tokens: agent.usage, usd },
    openCalls: agent.pending.map(({ call }) => oneLine(`${call.name} ${callTitle(call.name, call.input)}`, 200)),
  };
}

function plainDoing({ turn, pending, queue }: AgentState, isInterrupted: boolean): string {
  if (!turn) return queue.length > 0 ? "has something to answer" : "idle";
  if (isInterrupted) return "stopped in the middle of a turn: its process is gone";
  const [open] = pending;
  return open ? `runs ${open.call.name}` : "waits for the model";
}
