// Which instructions of folders each agent was shown.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { ownOr } from "../../ledger/own.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const instructionsEvents = {
  /** Shown to the agent that records it: a file of a folder it came into, as it was then. `mark`: of the note that shows it. */
  "instructions.shown": {
    v: 1,
    schema: () => z.object({ file: z.string(), hash: z.string(), mark: z.string().optional() }),
  },
} satisfies EventDefs;

/** By agent, then by file as people know it. */
export type ShownInstructions = Record<string, Record<string, { hash: string; seq: number; mark?: string }>>;

export const instructionsSlice: MechanismSlice<ShownInstructions> = {
  version: 3,
  types: Object.keys(instructionsEvents),
  timelines: {
    // What was shown after the checkpoint is no longer in the conversation: it is shown again when the agent comes there.
    restored: (state, { to }) =>
      Object.fromEntries(
        Object.entries(state).map(([agent, shown]) => [
          agent,
          Object.fromEntries(Object.entries(shown).filter(([, { seq }]) => seq <= to)),
        ]),
      ),
    // A file of somebody else's cannot say that the rules of this project were read.
    copied: (state, how) => (how === "import" ? {} : state),
  },
  initial: () => ({}),
  apply(state, event) {
    const { file, hash, mark } = knownFact<typeof instructionsEvents>(event).data;
    ownOr(state, event.actor, () => ({}))[file] = { hash, seq: event.seq, ...(mark !== undefined && { mark }) };
    return state;
  },
};
