// What a person ran beside the conversation: kept until it was told with their next words, whichever process takes those in.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import type { Seq } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import { nothing } from "../../loop/carry.ts";
import { noteText } from "../../loop/marks.ts";
import { defineMechanism, type Mechanism, saying } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const personCommandEvents = {
  /** By the person; it has ended. Without a code it was stopped, or could not be started. */
  "command.ran": {
    v: 1,
    schema: () => z.object({ command: z.string(), output: z.string(), code: z.number().optional() }),
  },
  /** All that ran up to that event stands beside an input. */
  "command.told": { v: 1, schema: () => z.object({ upTo: z.number() }) },
} satisfies EventDefs;

export type RanCommand = z.infer<ReturnType<(typeof personCommandEvents)["command.ran"]["schema"]>>;

interface Kept extends RanCommand {
  seq: Seq;
  /** Where it was told; until then it waits. */
  toldAt?: Seq;
}

interface PersonCommandsState {
  ran: readonly Kept[];
}

/** Of those that were told so many are kept: they wait again where the words that they went with are taken back. */
const MOST_TOLD = 5;

const personCommands: MechanismSlice<PersonCommandsState> = {
  version: 1,
  types: Object.keys(personCommandEvents),
  timelines: {
    // They ran in the world all the same; but what is said of them has to stand in the conversation that is left.
    restored: ({ ran }, { to }) => ({
      ran: ran
        .filter(({ seq }) => seq <= to)
        .map(({ toldAt, ...one }) => (toldAt !== undefined && toldAt <= to ? { ...one, toldAt } : one)),
    }),
    copied: (state) => state,
  },
  initial: () => ({ ran: [] }),
  apply(state, event) {
    const fact = knownFact<typeof personCommandEvents>(event);
    if (fact.type === "command.ran") return { ran: [...state.ran, { ...fact.data, seq: fact.seq }] };
    if (fact.type !== "command.told") return state;
    const { upTo } = fact.data;
    const ran = state.ran.map((one) =>
      one.seq <= upTo && one.toldAt === undefined ? { ...one, toldAt: fact.seq } : one,
    );
    const told = ran.filter(({ toldAt }) => toldAt !== undefined);
    const old = new Set(told.slice(0, Math.max(0, told.length - MOST_TOLD)));
    return { ran: ran.filter((one) => !old.has(one)) };
  },
};

/** Those that go with the next words. */
const waitingCommands = ({ ran }: PersonCommandsState): readonly Kept[] =>
  ran.filter(({ toldAt }) => toldAt === undefined);

export const endText = ({ code }: Pick<RanCommand, "code">): string =>
  code === undefined ? "it did not run to its end" : `exit code ${code}`;

const ranText = (ran: RanCommand): string => `$ ${ran.command}\n${ran.output}\n[${endText(ran)}]`;

const FROM = "a command that the user ran";

export function createPersonCommands(): Mechanism {
  return defineMechanism({
    name: "person-commands",
    carry: nothing,
    events: personCommandEvents,
    fold: personCommands,
    seams: {
      /** Behind what is asked, in the same message. */
      async input(input, turn) {
        if (turn.agent !== LEAD || input.origin !== "user") return input;
        const waiting = waitingCommands(turn.slice<PersonCommandsState>("person-commands"));
        const last = waiting.at(-1);
        if (!last) return input;
        const notes = waiting.map((one) => noteText(FROM, ranText(one))).join("\n\n");
        return saying(input, `\n${notes}`, { type: "command.told", data: { upTo: last.seq } });
      },
    },
  });
}
