// The day and the branch, told beside an input where they changed: in the system prompt they would break what is cached.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { own } from "../../ledger/own.ts";
import { noteText } from "../../loop/marks.ts";
import { defineMechanism, type Mechanism, saying } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { type Surroundings, saidOf, surroundingsOf } from "./day-and-branch.ts";

const events = {
  "surroundings.said": { v: 1, schema: () => z.object({ day: z.string(), branch: z.string().optional() }) },
} satisfies EventDefs;

/** By agent: what it was told last. */
type Said = Record<string, Surroundings & { seq: number }>;

const slice: MechanismSlice<Said> = {
  version: 1,
  types: Object.keys(events),
  timelines: {
    restored: (state, { to }) => Object.fromEntries(Object.entries(state).filter(([, { seq }]) => seq <= to)),
    copied: (state) => state,
  },
  initial: () => ({}),
  apply: (state, event) => ({ ...state, [event.actor]: { ...(event.data as Surroundings), seq: event.seq } }),
};

export function createSurroundings({ tell = false }: { tell?: boolean | undefined }): Mechanism {
  return defineMechanism({
    name: "surroundings",
    carry(turn) {
      const last = own(turn.slice<Said>("surroundings"), turn.agent);
      return last ? `As you were told last: ${saidOf(last)}` : "";
    },
    outside: { at: ["input"] },
    events,
    fold: slice,
    seams: {
      /** Behind what is asked, in the same message. */
      async input(input, turn) {
        if (!tell) return input;
        const now = surroundingsOf(turn.root);
        const last = own(turn.slice<Said>("surroundings"), turn.agent);
        if (last?.day === now.day && last.branch === now.branch) return input;
        return saying(input, noteText("holdfast", saidOf(now)), { type: "surroundings.said", data: now });
      },
    },
  });
}
