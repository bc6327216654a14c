// Which skills each agent has loaded, as they were then.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { ownOr } from "../../ledger/own.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const skillsEvents = {
  /** `by`: a model's call, or a person's `/name`; `agent`: the type of agent whose definition names it. Its text stands in the result or in the input beside it. */
  "skill.loaded": {
    v: 1,
    schema: () =>
      z.object({
        name: z.string(),
        source: z.string(),
        hash: z.string(),
        by: z.enum(["model", "person"]),
        callId: z.string().optional(),
        agent: z.string().optional(),
        /** Of its text, where that stands in no result. */
        mark: z.string().optional(),
      }),
  },
  /** Its commands run now, for what a person typed. */
  "skill.begun": { v: 1, schema: () => z.object({ name: z.string(), hash: z.string(), prompt: z.string() }) },
} satisfies EventDefs;

/** By agent, then by name. `begun`: its commands run, for that prompt; an earlier process may have been gone before it ended. */
export type LoadedSkills = Record<
  string,
  Record<string, { hash: string; seq: number; callId?: string; mark?: string; begun?: string; agent?: string }>
>;

export const skillsSlice: MechanismSlice<LoadedSkills> = {
  version: 2,
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
    const { type, data } = knownFact<typeof skillsEvents>(event);
    const { name, hash } = data;
    const more = type === "skill.begun" ? { begun: data.prompt } : loadedBy(data);
    ownOr(state, event.actor, () => ({}))[name] = { hash, seq: event.seq, ...more };
    return state;
  },
};

type LoadedBy = Partial<Record<"callId" | "agent" | "mark", string | undefined>>;

const loadedBy = ({ callId, agent, mark }: LoadedBy) => ({
  ...(callId !== undefined && { callId }),
  ...(mark !== undefined && { mark }),
  ...(agent !== undefined && { agent }),
});
