// What becomes of a mechanism's slice when the conversation goes back to a checkpoint, and in a copy of the context.
import type { contextEvents } from "../contexts/events.ts";
import { LEAD_AGENT } from "../contexts/listing.ts";
import type { Slice } from "../ledger/fold.ts";
import { knownFact } from "../ledger/guards.ts";
import type { Seq, StoredEvent } from "../ledger/store.ts";

/** Contract: like `apply`, functions of the slice and what they are given alone. */
export interface Timelines<S> {
  /**
   * The conversation is again what it was at event `to`: calls, messages and turns after it are no longer there. What happened in the
   * world has happened all the same. `from` is the position that is left; undoing a restore goes back to it.
   */
  restored: (state: S, back: { to: Seq; from: Seq }) => S;
  /**
   * A second context begins as a copy of this one. What is open belongs to the first: jobs, schedules, questions, teammates, what a person
   * allowed. `goesOn`: the agent whose turn is open in the copy too: what is remembered of that turn stays, so that it is asked the same.
   */
  copied: (state: S, how: "fork" | "import", goesOn?: string) => S;
}

/** A mechanism's slice of the state. */
export interface MechanismSlice<S = unknown> extends Slice<S> {
  /** Every mechanism says it: nothing may speak of what is no longer there. */
  timelines: Timelines<S>;
}

/** For what is true whatever the conversation says. */
// biome-ignore lint/suspicious/noExplicitAny: it changes no slice of any type
export const unchanged: Timelines<any> = { restored: (state) => state, copied: (state) => state };

/** For what is remembered within a turn only: in the past, and in a copy, no turn is open. */
export const forgotten = <S>(initial: () => S): Timelines<S> => ({ restored: initial, copied: initial });

/** Likewise, for what is remembered by agent: of a turn that goes on in a copy it stays. */
export const forgottenByAgent = <T>(): Timelines<Record<string, T>> => ({
  restored: () => ({}),
  copied: (state, _, goesOn) => Object.fromEntries(Object.entries(state).filter(([agent]) => agent === goesOn)),
});

const TYPES = ["context.restored", "context.forked", "context.imported"];

/** The slice as the ledger folds it. */
export function acrossTimelines<S>({ timelines, ...slice }: MechanismSlice<S>): Slice<S> {
  return {
    ...slice,
    ...(slice.types && { types: [...new Set([...slice.types, ...TYPES])] }),
    apply(before, event) {
      const state = !slice.types || slice.types.includes(event.type) ? slice.apply(before, event) : before;
      return turned(timelines, state, event);
    },
  };
}

function turned<S>(timelines: Timelines<S>, state: S, event: StoredEvent): S {
  const fact = knownFact<typeof contextEvents>(event);
  if (fact.type === "context.forked") return timelines.copied(state, "fork", fact.data.goesOn ? LEAD_AGENT : undefined);
  if (fact.type === "context.imported") return timelines.copied(state, "import");
  if (fact.type !== "context.restored") return state;
  const { seq: to, conversation } = fact.data;
  return conversation ? timelines.restored(state, { to, from: fact.seq - 1 }) : state;
}
