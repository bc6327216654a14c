// Which skills each agent has loaded, as they were then.
import * as z from "zod";
import type { EventDefs } from "../../ledger/events.ts";
import { ownOr } from "../../ledger/own.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const skillsEvents = {
  /** `by`: a model's call, or a person's `/name`. Its text stands in the result or in the input beside it. */
  "skill.loaded": {
    v: 1,
    schema: () =>
      z.object({
        name: z.string(),
        source: z.string(),
        hash: z.string(),
        by: z.enum(["model", "person"]),
        callId: z.string().optional(),
      }),
  },
} satisfies EventDefs;

/** By agent, then by name. */
export type LoadedSkills = Record<string, Record<string, { hash: string; seq: number; callId?: string }>>;

export const skillsSlice: MechanismSlice<LoadedSkills> = {
  version: 1,
  types: Object.keys(skillsEvents),
  timelines: {
    restored: (state, { to }) =>
      Object.fromEntries(
        Object.entries(state).map(([agent, loaded]) => [
          agent,
          Object.fromEntries(Object.entries(loaded).filter(([, { seq }]) => seq <= to)),
        ]),
      ),
    copied: (state) => state,
  },
  initial: () => ({}),
  apply(state, event) {
    const { name, hash, callId } = event.data as { name: string; hash: string; callId?: string };
    ownOr(state, event.actor, () => ({}))[name] = { hash, seq: event.seq, ...(callId !== undefined && { callId }) };
    return state;
  },
};
