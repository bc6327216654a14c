// Owns the facts of the hub: what an agent was asked for, what it exported, how often it was corrected.
import * as z from "zod";
import type { EventDefs } from "../ledger/events.ts";
import { type MechanismSlice, unchanged } from "../loop/timelines.ts";

export const hubEvents: EventDefs = {
  "hub.exported": { v: 1, schema: () => z.object({ keys: z.array(z.string()) }) },
  "hub.corrected": { v: 1, schema: () => z.object({ reason: z.string() }) },
};

export interface Assignment {
  type: string;
  /** JSON Schema for each key that is wanted. */
  exports: Record<string, unknown>;
  question?: string;
  exported: string[];
  corrections: number;
}

export type HubState = Record<string, Assignment>;

export const hubSlice: MechanismSlice<HubState> = {
  version: 2,
  types: ["hub.asked", "hub.exported", "hub.corrected"],
  timelines: unchanged,
  initial: () => ({}),
  apply(state, event) {
    const own = state[event.actor];
    if (event.type === "hub.asked") {
      const { type, exports, question } = event.data as Pick<Assignment, "type" | "exports" | "question">;
      state[event.actor] = { type, exports, ...(question && { question }), exported: [], corrections: 0 };
    } else if (event.type === "hub.exported" && own) {
      const { keys } = event.data as { keys: string[] };
      own.exported = [...new Set([...own.exported, ...keys])];
    } else if (event.type === "hub.corrected" && own) own.corrections++;
    return state;
  },
};

/** What is still wanted of an agent. */
export const wantedOf = (assignment: Assignment | undefined): string[] =>
  Object.keys(assignment?.exports ?? {}).filter((key) => !assignment!.exported.includes(key));
