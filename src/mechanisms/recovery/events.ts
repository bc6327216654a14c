// The facts of recovery, and what of them the rest of a turn must remember, over a resume too.

import * as z from "../../ledger/event-schema.ts";
import type { EventDefs, Fact } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import { forgottenByAgent, type MechanismSlice } from "../../loop/timelines.ts";

export const recoveryEvents = {
  "model.retried": {
    v: 1,
    schema: () =>
      z.object({
        kind: z.string(),
        attempt: z.number(),
        delayMs: z.number(),
        status: z.number().optional(),
        model: z.string(),
        message: z.string(),
      }),
  },
  "model.switched": {
    v: 1,
    schema: () =>
      z.object({
        from: z.string(),
        to: z.string(),
        reason: z.string(),
        /** 1 is the first fallback. */
        fallback: z.number(),
      }),
  },
  "model.escalated": { v: 1, schema: () => z.object({ model: z.string(), from: z.number(), to: z.number() }) },
  "model.continued": { v: 1, schema: () => z.object({ count: z.number() }) },
} satisfies EventDefs;

export interface TurnRecovery {
  /** How often this turn was asked to go on after a cut-off reply. */
  continuations: number;
  /** Set once the output limit was raised. */
  maxOutputTokens?: number;
  /** 0: the agent's own model. */
  fallback: number;
}

export type RecoveryState = Record<string, TurnRecovery>;

export const freshTurn = (): TurnRecovery => ({ continuations: 0, fallback: 0 });

export const recoverySlice: MechanismSlice<RecoveryState> = {
  version: 1,
  types: [...Object.keys(recoveryEvents), "turn.started", "turn.ended"],
  timelines: forgottenByAgent(),
  initial: () => ({}),
  apply(state, event) {
    const { actor } = event;
    if (event.type === "turn.started" || event.type === "turn.ended") {
      delete state[actor];
      return state;
    }
    const change = changeOf(knownFact<typeof recoveryEvents>(event));
    if (change) state[actor] = { ...(own(state, actor) ?? freshTurn()), ...change };
    return state;
  },
};

function changeOf({ type, data }: Fact<typeof recoveryEvents>): Partial<TurnRecovery> | undefined {
  switch (type) {
    case "model.switched":
      return { fallback: data.fallback };
    case "model.escalated":
      return { maxOutputTokens: data.to };
    case "model.continued":
      return { continuations: data.count };
  }
  return undefined;
}
