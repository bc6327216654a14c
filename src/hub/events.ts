// The facts of the hub: what an agent was asked for, what it exported, how often it was corrected.

import type { contextEvents } from "../contexts/events.ts";
import * as z from "../ledger/event-schema.ts";
import type { EventDefs } from "../ledger/events.ts";
import { knownFact } from "../ledger/guards.ts";
import { own, ownOr } from "../ledger/own.ts";
import type { Seq } from "../ledger/store.ts";
import type { MechanismSlice } from "../loop/timelines.ts";

export const hubEvents = {
  "hub.exported": { v: 1, schema: () => z.object({ keys: z.array(z.string()) }) },
  "hub.corrected": { v: 1, schema: () => z.object({ reason: z.string() }) },
} satisfies EventDefs;

export interface Assignment {
  type: string;
  /** JSON Schema for each key that is wanted. */
  exports: Record<string, unknown>;
  question?: string;
  exported: string[];
  corrections: number;
  /** The events that say so. */
  seq: Seq;
  exportedAt: Record<string, Seq>;
}

export type HubState = Record<string, Assignment>;

export const hubSlice: MechanismSlice<HubState> = {
  version: 3,
  types: ["hub.asked", "hub.exported", "hub.corrected"],
  timelines: {
    // Who was asked after the checkpoint was never asked: the same name may be asked anew.
    restored: (state, { to }) => Object.fromEntries(Object.entries(state).flatMap((one) => upTo(one, to))),
    copied: (state) => state,
  },
  initial: () => ({}),
  apply(state, event) {
    const fact = knownFact<typeof hubEvents & Pick<typeof contextEvents, "hub.asked">>(event);
    const mine = own(state, fact.actor);
    if (fact.type === "hub.asked") {
      const { type, exports, question } = fact.data;
      const asked = { type, exports, ...(question && { question }), seq: fact.seq };
      state[fact.actor] = { ...asked, exported: [], corrections: 0, exportedAt: {} };
    } else if (fact.type === "hub.exported" && mine) {
      const { keys } = fact.data;
      mine.exported = [...new Set([...mine.exported, ...keys])];
      for (const key of keys) ownOr(mine.exportedAt, key, () => fact.seq);
    } else if (fact.type === "hub.corrected" && mine) mine.corrections++;
    return state;
  },
};

function upTo([agent, asked]: [string, Assignment], to: Seq): [string, Assignment][] {
  if (asked.seq > to) return [];
  return [[agent, { ...asked, exported: asked.exported.filter((key) => (own(asked.exportedAt, key) ?? 0) <= to) }]];
}

/** What is still wanted of an agent. */
export const wantedOf = (assignment: Assignment | undefined): string[] =>
  assignment ? Object.keys(assignment.exports).filter((key) => !assignment.exported.includes(key)) : [];
