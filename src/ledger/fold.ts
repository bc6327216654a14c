// Owns folding: state is what the events say, and nothing else.
import type { Seq, StoredEvent } from "./store.ts";

/**
 * One slice of the state. Contract: `apply` is a function of its slice and the event alone (no clock, no input, no output);
 * it may change its own slice in place and returns it; an event it does not know leaves it as it was.
 */
export interface Slice<S = unknown> {
  /** Part of the snapshot key: raise it when `apply` changes meaning. */
  version: number;
  initial: () => S;
  apply: (state: S, event: StoredEvent) => S;
}

export interface State {
  seq: Seq;
  slices: Record<string, unknown>;
}

export interface Fold {
  /** Names and versions of all slices: another fold does not read this one's snapshots. */
  readonly version: string;
  initial(): State;
  apply(state: State, event: StoredEvent): State;
}

// biome-ignore lint/suspicious/noExplicitAny: a fold holds slices of every type
export function createFold(slices: Record<string, Slice<any>>): Fold {
  const entries = Object.entries(slices);
  return {
    version: entries.map(([name, s]) => `${name}@${s.version}`).join(","),
    initial: () => ({ seq: 0, slices: Object.fromEntries(entries.map(([name, s]) => [name, s.initial()])) }),
    apply(state, event) {
      for (const [name, slice] of entries) state.slices[name] = slice.apply(state.slices[name], event);
      state.seq = event.seq;
      return state;
    },
  };
}
