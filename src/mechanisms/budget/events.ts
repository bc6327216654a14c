// The facts of a context's budget and their fold: its limits, what all its agents spent, and which calls stand reserved.

import type { contextEvents } from "../../contexts/events.ts";
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { addUsage, noUsage, type Usage } from "../../models/model.ts";

/** What all agents of a context may spend together. */
export interface Budget {
  /** Read anew or written; what a cache served counts in money only. */
  tokens?: number;
  usd?: number;
  /** Model calls. */
  rounds?: number;
}

export const BUDGET_KINDS = ["tokens", "usd", "rounds"] as const satisfies (keyof Budget)[];

const amount = () => z.number().nonnegative().optional();
const usage = () => z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() });

export const budgetEvents = {
  "budget.set": { v: 1, schema: () => z.object({ tokens: amount(), usd: amount(), rounds: amount() }) },
  /** Before a call, with what it will about cost; settled by the reply of the same agent. */
  "budget.reserved": { v: 1, schema: () => z.object({ tokens: z.number(), usd: z.number() }) },
  /** The call was not made, or failed. */
  "budget.released": { v: 1, schema: () => z.object({}) },
  /** A reply that may be thrown away; the next one that is recorded includes it. */
  "budget.spent": { v: 1, schema: () => z.object({ model: z.string(), usage: usage() }) },
} satisfies EventDefs;

interface Reservation {
  seq: number;
  at: number;
  tokens: number;
  usd: number;
}

export interface BudgetState {
  limits: Budget;
  rounds: number;
  byModel: Record<string, Usage>;
  /** By agent. */
  standing: Record<string, Reservation>;
  unrecorded: Record<string, { model: string; usage: Usage }>;
  /** What the last call of an agent cost. */
  last: Record<string, Usage>;
}

type Known = typeof budgetEvents & typeof loopEvents & Pick<typeof contextEvents, "context.configured">;

export const budgetSlice: MechanismSlice<BudgetState> = {
  version: 2,
  types: [
    ...Object.keys(budgetEvents),
    "context.configured",
    "reply.received",
    "reply.aside",
    "turn.started",
    "turn.ended",
  ],
  timelines: {
    // What was spent is spent.
    restored: (state) => ({ ...state, standing: {}, unrecorded: {} }),
    copied: (state) => ({ ...state, standing: {}, unrecorded: {} }),
  },
  initial: () => ({ limits: {}, rounds: 0, byModel: {}, standing: {}, unrecorded: {}, last: {} }),
  apply(state, event) {
    const { actor, type, data } = knownFact<Known>(event);
    switch (type) {
      case "context.configured":
        if (data.budget !== undefined) state.limits = limitsIn(data.budget);
        break;
      case "budget.set":
        state.limits = { ...state.limits, ...limitsIn(data) };
        break;
      case "budget.reserved":
        state.standing[actor] = { seq: event.seq, at: event.at, tokens: data.tokens, usd: data.usd };
        break;
      case "budget.spent": {
        const before = own(state.unrecorded, actor)?.usage ?? noUsage();
        state.unrecorded[actor] = { model: data.model, usage: addUsage(before, data.usage) };
        break;
      }
      case "reply.aside":
        addSpent(state, data);
        break;
      case "reply.received":
        addSpent(state, data);
        state.last[actor] = data.usage;
        delete state.standing[actor];
        delete state.unrecorded[actor];
        break;
      case "budget.released":
      case "turn.started":
      case "turn.ended":
        delete state.standing[actor];
        break;
    }
    return state;
  },
};

function addSpent(state: BudgetState, { model, usage }: { model: string; usage: Usage }): void {
  state.rounds++;
  state.byModel[model] = addUsage(own(state.byModel, model) ?? noUsage(), usage);
}

/** Anybody may write anything into a context's settings: only numbers count. */
function limitsIn(given: unknown): Budget {
  const limits: Budget = {};
  if (!isRecord(given)) return limits;
  for (const kind of BUDGET_KINDS) {
    const value = given[kind];
    if (typeof value === "number" && value >= 0) limits[kind] = value;
  }
  return limits;
}
