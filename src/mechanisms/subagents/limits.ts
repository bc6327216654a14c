// Whether an agent may begin a subtask: by how deep it is, how many agents there are, and what it was refused.
import type { Turn } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { SubagentsState } from "./events.ts";

export interface SubagentLimits {
  /** Subagents of subagents of …. */
  maxDepth: number;
  /** Agents of a context in all. */
  maxAgents: number;
}

/** After so many of a turn ran into a refusal, it starts no more: the next would be refused too. */
const MOST_REFUSED = 3;

export const subagentsState = (turn: Pick<Turn, "slice">): SubagentsState => turn.slice<SubagentsState>("subagents");

export const subagentDepth = (turn: Turn): number => subagentsState(turn).agents[turn.agent]?.depth ?? 0;

/** Whether the tool is shown. */
export function offersSubtasks(turn: Turn, limits: SubagentLimits): boolean {
  const asked = turn.state.pending.filter(({ call }) => call.name === "task");
  const { agents } = subagentsState(turn);
  // What was begun is answered, also where no more can be begun.
  if (asked.some(({ call, started }) => started || agents[`${turn.agent}.${call.id}`])) return true;
  // By what this agent is, and has done: a call alone offers nothing.
  if (subagentDepth(turn) >= limits.maxDepth || hasTriedEnough(turn)) return false;
  // Others may have made the last that there may be since it was asked for: that is said, by the tool.
  return asked.length > 0 || reasonAgainst(turn, limits) === undefined;
}

const hasTriedEnough = (turn: Turn): boolean => (subagentsState(turn).refused[turn.agent] ?? 0) >= MOST_REFUSED;

export function reasonAgainst(turn: Turn, { maxDepth, maxAgents }: SubagentLimits): string | undefined {
  const agents = Object.keys(turn.slice<ContextState>("transcript").agents).length;
  if (subagentDepth(turn) >= maxDepth)
    return `subtasks may not be nested deeper than ${maxDepth}: do the work yourself`;
  if (agents >= maxAgents)
    return `this context has ${agents} agents, its limit: do the work yourself, or end with what there is`;
  if (hasTriedEnough(turn))
    return `${MOST_REFUSED} subtasks of this turn were refused permission: say what is needed instead of trying again`;
  return undefined;
}
