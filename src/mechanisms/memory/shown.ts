// What an agent was shown of memory, and which words a person said to it: folded from its context.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { ownOr } from "../../ledger/own.ts";
import { withoutNotes } from "../../loop/marks.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import type { Content } from "../../models/model.ts";
import { textOf } from "../../models/model.ts";

export const shownEvents = {
  /** Memories that stand in an input of this agent, each with the time it was kept. `mark`: of the note that says them. */
  "memory.shown": {
    v: 1,
    schema: () =>
      z.object({ memories: z.array(z.object({ name: z.string(), at: z.number() })), mark: z.string().optional() }),
  },
  /** This agent is to read `source` up to there, for what is worth remembering. */
  "memory.asked": { v: 1, schema: () => z.object({ source: z.string(), to: z.number() }) },
} satisfies EventDefs;

/** In place of a time: it knows that this is forgotten. */
export const GONE = 0;

interface OfAgent {
  /** By name: when the memory that it was shown was kept, and the event that says so. */
  shown: Record<string, { at: number; seq: number }>;
  /** The notes that said them, the last of them. */
  notes?: { mark: string; seq: number }[];
  /** What a person said to it, the last of it: not what was piped in beside the words, nor the files that they name. */
  said: { seq: number; text: string }[];
  /** What it was asked to read. */
  reads?: { source: string; to: number };
}

export type MemorySlice = Record<string, OfAgent>;

const MOST_SAID = 30;
const MOST_NOTES = 50;
const LONGEST_SAID = 4000;

export const memorySlice: MechanismSlice<MemorySlice> = {
  version: 3,
  types: ["input.received", ...Object.keys(shownEvents)],
  timelines: {
    restored: (state, { to }) =>
      Object.fromEntries(
        Object.entries(state).map(([agent, { shown, said, notes = [], ...rest }]) => [
          agent,
          {
            ...rest,
            notes: notes.filter(({ seq }) => seq <= to),
            shown: Object.fromEntries(Object.entries(shown).filter(([, { seq }]) => seq <= to)),
            said: said.filter(({ seq }) => seq <= to),
          },
        ]),
      ),
    // Whose words a file of somebody else's has are not this person's; nor was its agent shown what is remembered here.
    copied: (state, how) => (how === "import" ? {} : state),
  },
  initial: () => ({}),
  apply(state, event) {
    if (event.type === "input.received") {
      const { agent, content, origin } = event.data as { agent: string; content: Content[]; origin: string };
      if (origin !== "user") return state;
      const { said } = agentIn(state, agent);
      said.push({ seq: event.seq, text: withoutNotes(textOf(content)).slice(0, LONGEST_SAID) });
      if (said.length > MOST_SAID) said.shift();
      return state;
    }
    if (event.type === "memory.asked") {
      agentIn(state, event.actor).reads = event.data as { source: string; to: number };
      return state;
    }
    const { memories, mark } = event.data as { memories: { name: string; at: number }[]; mark?: string };
    const mine = agentIn(state, event.actor);
    for (const { name, at } of memories) mine.shown[name] = { at, seq: event.seq };
    if (mark !== undefined) mine.notes = [...(mine.notes ?? []), { mark, seq: event.seq }].slice(-MOST_NOTES);
    return state;
  },
};

const agentIn = (state: MemorySlice, agent: string): OfAgent => ownOr(state, agent, () => ({ shown: {}, said: [] }));
