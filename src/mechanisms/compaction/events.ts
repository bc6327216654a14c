// The facts of compaction: which results are shown as a line, and the line itself, so that no later version says another one.

import * as z from "zod";
import type { EventDefs } from "../../ledger/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import { type MechanismSlice, unchanged } from "../../loop/timelines.ts";

export const compactionEvents = {
  "context.elided": {
    v: 3,
    schema: () =>
      z.object({
        /** The results of these calls are shown as this line from here on. */
        masks: z.array(z.object({ call: z.string(), line: z.string() })),
        bytes: z.number(),
      }),
    upcast: {
      // It named a position among the items, which meant others after a restore: those results are shown again, and left out anew when they must.
      1: (data: unknown) => (isRecord(data) ? { calls: [], bytes: data.bytes } : data),
      2: (data: unknown) =>
        isRecord(data) && Array.isArray(data.calls)
          ? { masks: data.calls.map((call) => ({ call, line: "" })), bytes: data.bytes }
          : data,
    },
  },
} satisfies EventDefs;

/** The line that stands for the result of a call; "" as version 2 put it. By id: an id is never given twice, so that a mask can only mean what the model has seen. */
export type Masks = Record<string, string>;

/** By agent. */
export type CompactionState = Record<string, Masks>;

export const compactionSlice: MechanismSlice<CompactionState> = {
  version: 3,
  types: ["context.elided"],
  timelines: unchanged,
  initial: () => ({}),
  apply(state, event) {
    const { masks } = knownFact<typeof compactionEvents>(event).data;
    const mine: Masks = { ...own(state, event.actor) };
    for (const { call, line } of masks) mine[call] = line;
    state[event.actor] = mine;
    return state;
  },
};
