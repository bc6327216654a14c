// Driving one agent: turn after turn, and waiting where there is something to wait for. Whoever runs an agent, runs it here.
import type { AgentHandle } from "./agent.ts";
import type { TurnEndReason } from "./events.ts";
import { dueInputs } from "./transcript.ts";

export interface Drive {
  /**
   * `inputs`: until what was said to it is answered, or a turn was interrupted. `everything`: also what comes by itself (a finished job, a
   * message, a schedule), and mechanisms are told when it is idle.
   */
  takes: "inputs" | "everything";
  /** Contract: called after each turn, before the next begins. */
  onTurn?: (reason: TurnEndReason, startedAt: number) => void;
  /** Contract: the agent has nothing to do; resolves to true to look again, to false to end. Default: it ends. */
  wait?: () => Promise<boolean>;
  /** Contract: asked before each turn; false ends it. Default: it goes on. */
  goesOn?: () => boolean;
  /** No turn begins after it. */
  signal?: AbortSignal;
}

/** Contract: how the last turn ended; undefined when there was none. */
export async function drive(agent: AgentHandle, how: Drive): Promise<TurnEndReason | undefined> {
  const { takes, onTurn, wait, goesOn = () => true, signal } = how;
  let last: TurnEndReason | undefined;
  while (!signal?.aborted && goesOn()) {
    const startedAt = Date.now();
    const next = dueInputs(agent.turn.state)[0]?.inputId;
    const reason = takes === "everything" || agent.hasWork() ? await agent.oneTurn() : undefined;
    if (reason !== undefined) {
      last = reason;
      onTurn?.(reason, startedAt);
      if (takes === "inputs" && reason === "interrupted") break;
      // What could not even be taken in would only fail again.
      if (reason !== "done" && next !== undefined && dueInputs(agent.turn.state)[0]?.inputId === next) break;
      continue;
    }
    if (takes === "everything" && !signal?.aborted) await agent.idle();
    if (agent.hasWork()) continue;
    if (!(await wait?.())) break;
  }
  return last;
}
