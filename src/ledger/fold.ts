// Folding: state is what the events say, and nothing else. A fold is made of slices; each names the event types it reads.
import { EXTENDED, type Extension } from "./events.ts";
import type { Seq, StoredEvent } from "./store.ts";

/**
 * One slice of the state. Contract: `apply` is a function of its slice and the event alone (no clock, no input, no output);
 * it may change its own slice in place and returns it; an event it does not know leaves it as it was.
 */
export interface Slice<S = unknown> {
  /** Part of the snapshot key: raise it when `apply` changes meaning. */
  version: number;
  /** The event types it folds: a reader that has only such slices reads nothing else. Default: every event. */
  types?: readonly string[];
  initial: () => S;
  apply: (state: S, event: StoredEvent) => S;
  /** For state that is not plain JSON: how a snapshot holds it. */
  freeze?: (state: S) => unknown;
  thaw?: (frozen: unknown) => S;
}

// biome-ignore lint/suspicious/noExplicitAny: a fold holds slices of every type
export type Slices = Record<string, Slice<any>>;

export interface State {
  seq: Seq;
  slices: Record<string, unknown>;
}

/** When an entity was last touched, and by which type of event. */
export type Versions = Map<string, { seq: Seq; type: string }>;

/** A slice as a snapshot holds it, with the versions of the entities that its events touched. */
interface Frozen {
  state: unknown;
  versions: [entity: string, seq: Seq, type: string][];
}

export interface Fold {
  /** The snapshot key of each slice. Programs with other slices beside them share these snapshots. */
  readonly keys: readonly string[];
  /** What a reader of this fold must read; undefined: everything. */
  readonly types: readonly string[] | undefined;
  initial(): State;
  /** `behind`: slices that are folded up to another position already. */
  apply(state: State, event: StoredEvent, behind?: ReadonlyMap<string, Seq>): State;
  freeze(state: State, versions: Versions): Map<string, unknown>;
  /** Contract: `behind` says where each slice stands; `state.seq` is the lowest of them. */
  thaw(found: ReadonlyMap<string, { seq: Seq; state: unknown }>): {
    state: State;
    versions: Versions;
    behind: Map<string, Seq>;
  };
}

/** Every fold has it: which event types are of mechanisms that a reader may not have. */
const extensions: Slice<Record<string, Extension>> = {
  version: 1,
  types: [EXTENDED],
  initial: () => ({}),
  apply(state, event) {
    const extension = event.data as Extension;
    for (const type of extension.types) state[type] = extension;
    return state;
  },
};

export const extensionsIn = (state: State): Record<string, Extension> =>
  state.slices.extensions as Record<string, Extension>;

/** `everything`: its readers read also what no slice folds. */
export function createFold(slices: Slices, { everything: all = false } = {}): Fold {
  const whole: Slices = { ...slices, extensions };
  const entries = Object.entries(whole);
  const keyOf = ([name, slice]: (typeof entries)[number]) => `${name}@${slice.version}`;
  const everything = all || entries.some(([, slice]) => !slice.types);
  const wanting = new Map<string, typeof entries>();

  function slicesFor(type: string): typeof entries {
    let found = wanting.get(type);
    if (!found) {
      found = entries.filter(([, slice]) => slice.types?.includes(type) ?? true);
      wanting.set(type, found);
    }
    return found;
  }

  return {
    keys: entries.map(keyOf),
    types: everything ? undefined : [...new Set(entries.flatMap(([, slice]) => slice.types ?? []))],
    initial: () => ({ seq: 0, slices: Object.fromEntries(entries.map(([name, slice]) => [name, slice.initial()])) }),
    apply(state, event, behind) {
      for (const [name, slice] of slicesFor(event.type)) {
        if (behind && event.seq <= (behind.get(name) ?? 0)) continue;
        state.slices[name] = slice.apply(state.slices[name], event);
      }
      state.seq = event.seq;
      return state;
    },
    freeze(state, versions) {
      const all = [...versions];
      return new Map(
        entries.map((entry) => {
          const [name, slice] = entry;
          const own = all.filter(([, { type }]) => slice.types?.includes(type) ?? true);
          const frozen: Frozen = {
            state: slice.freeze ? slice.freeze(state.slices[name]) : state.slices[name],
            versions: own.map(([entity, { seq, type }]) => [entity, seq, type]),
          };
          return [keyOf(entry), frozen];
        }),
      );
    },
    thaw(found) {
      const state: State = { seq: 0, slices: {} };
      const versions: Versions = new Map();
      const behind = new Map<string, Seq>();
      for (const entry of entries) {
        const [name, slice] = entry;
        const snapshot = found.get(keyOf(entry));
        const frozen = snapshot?.state as Frozen | undefined;
        behind.set(name, snapshot?.seq ?? 0);
        state.slices[name] = frozen ? (slice.thaw ? slice.thaw(frozen.state) : frozen.state) : slice.initial();
        for (const [entity, seq, type] of frozen?.versions ?? [])
          if (seq > (versions.get(entity)?.seq ?? 0)) versions.set(entity, { seq, type });
      }
      state.seq = behind.size === 0 ? 0 : Math.min(...behind.values());
      return { state, versions, behind };
    },
  };
}
