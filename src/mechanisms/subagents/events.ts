// The facts of subagents and their slice: whose they are, how deep, which of those in the background are still to be reported.

import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const subagentEvents = {
  /** With the creation of the agent, whose fact it is. `task`: all that a restart needs to go on with it by itself. */
  "subagent.started": {
    v: 1,
    schema: () =>
      z.object({
        parent: z.string(),
        callId: z.string(),
        type: z.string(),
        description: z.string(),
        depth: z.number(),
        task: z.object({ prompt: z.string(), reads: z.array(z.string()).optional() }).optional(),
      }),
  },
  "subagent.ended": {
    v: 1,
    schema: () =>
      z.object({
        agent: z.string(),
        ok: z.boolean(),
        denials: z.number(),
        /** Of one in the background: what its caller is told. */
        report: z.string().optional(),
      }),
  },
  /** In one append with the note that tells its caller. */
  "subagent.reported": { v: 1, schema: () => z.object({ agent: z.string() }) },
} satisfies EventDefs;

export interface Subagent {
  parent: string;
  callId: string;
  type: string;
  description: string;
  depth: number;
  /** Runs in the background: the whole task. */
  task?: { prompt: string; reads?: string[] };
  ended?: boolean;
  /** Still to be told to its caller. */
  report?: string;
}

export interface SubagentsState {
  agents: Record<string, Subagent>;
  /** By caller: subagents of its turn that ran into a refusal. */
  refused: Record<string, number>;
}

type Known = typeof subagentEvents & typeof loopEvents;

export const subagentsSlice: MechanismSlice<SubagentsState> = {
  version: 1,
  types: [...Object.keys(subagentEvents), "turn.started"],
  timelines: {
    restored: allEnded,
    // How often it was refused stands for the whole turn: it decides whether it is offered subtasks.
    copied(state, _, goesOn) {
      const refused = goesOn === undefined ? undefined : own(state.refused, goesOn);
      return {
        ...allEnded(state),
        refused: goesOn === undefined || refused === undefined ? {} : { [goesOn]: refused },
      };
    },
  },
  initial: () => ({ agents: {}, refused: {} }),
  apply(state, event) {
    const { type, actor, data } = knownFact<Known>(event);
    if (type === "subagent.started") state.agents[actor] = { ...data };
    else if (type === "subagent.ended") {
      const ended = own(state.agents, data.agent);
      if (!ended || ended.ended) return state;
      ended.ended = true;
      if (ended.task && data.report !== undefined) ended.report = data.report;
      if (data.denials > 0) state.refused[ended.parent] = (own(state.refused, ended.parent) ?? 0) + 1;
    } else if (type === "subagent.reported") {
      const told = own(state.agents, data.agent);
      if (told) delete told.report;
    } else if (type === "turn.started") delete state.refused[actor];
    return state;
  },
};

/** Nobody waits for them any more: the calls that started them are gone, or the other timeline goes on with them. */
function allEnded(state: SubagentsState): SubagentsState {
  for (const one of Object.values(state.agents)) {
    one.ended = true;
    delete one.report;
  }
  return { ...state, refused: {} };
}
