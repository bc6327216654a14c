// What the monitor knows of every event of one ledger without keeping it: its type, whose it is, when; and what follows from all of them (spans, usage, costs).
import type { Codec } from "../../ledger/events.ts";
import { withoutLongTexts } from "../../ledger/spill.ts";
import type { Seq, Store, StoredEvent } from "../../ledger/store.ts";
import type { RowKind } from "./context-api.ts";
import { rowKindOf } from "./event-rows.ts";

/** So many lists of positions are kept. */
const MOST_FILTERS = 24;

export interface EventIndex {
  /** How far it has read. */
  readonly head: Seq;
  /** Contract: when it resolves, everything that was recorded before the call is read. One reading at a time, whoever asks. */
  advance(): Promise<void>;
  /** The seqs of a filter's rows, in order. Contract: valid until the next `advance`. */
  positions(filter: RowFilter): readonly Seq[];
  atOf(seq: Seq): number;
  /** The last event that is not later, 0: none. */
  seqAt(at: number): Seq;
}

interface RowFilter {
  kinds?: readonly RowKind[];
  agent?: string;
}

/** Contract: told of every event in order, once; long texts are cut in it. */
type EventObserver = (event: StoredEvent) => void;

export interface EventIndexOptions {
  /** Contract: read in stretches. */
  store: Store;
  name: string;
  codec: Codec;
  observers: readonly EventObserver[];
}

export function createEventIndex({ store, name, codec, observers }: EventIndexOptions): EventIndex {
  const types = createNames();
  const actors = createNames();
  /** By seq − 1. */
  const typeOf: number[] = [];
  const actorOf: number[] = [];
  const at: number[] = [];
  const filtered = new Map<string, { upTo: Seq; seqs: Seq[] }>();
  let reading: Promise<void> | undefined;
  let following: Promise<void> | undefined;

  async function readOn(): Promise<void> {
    for await (const raw of store.read(name, { after: at.length })) {
      // A damaged stretch leaves a hole: positions stay seqs.
      while (at.length < raw.seq - 1) note("", "", raw.at);
      note(raw.type, raw.actor, raw.at);
      const decoded = codec.decode({ ...raw, data: withoutLongTexts(raw.data) });
      if (decoded.ok) for (const observe of observers) observe(decoded.event);
    }
  }

  function begin(): Promise<void> {
    reading = readOn().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function note(type: string, actor: string, when: number): void {
    typeOf.push(types.numberOf(type));
    actorOf.push(actors.numberOf(actor));
    at.push(when);
  }

  return {
    get head() {
      return at.length;
    },
    advance() {
      if (!reading) return begin();
      // The reading that goes on may have seen the end already: another one behind it, for all who ask meanwhile.
      following ??= reading
        .catch(() => undefined)
        .then(() => {
          following = undefined;
          return reading ?? begin();
        });
      return following;
    },
    positions(filter) {
      const key = JSON.stringify([filter.kinds?.toSorted(), filter.agent]);
      let found = filtered.get(key);
      if (!found) {
        found = { upTo: 0, seqs: [] };
        filtered.set(key, found);
        const [oldest = key] = filtered.keys();
        if (filtered.size > MOST_FILTERS) filtered.delete(oldest);
      }
      const kinds = filter.kinds && new Set(filter.kinds);
      const wanted = types.names.map((type) => !kinds || kinds.has(rowKindOf(type)));
      const actor = filter.agent === undefined ? undefined : actors.known(filter.agent);
      for (let i = found.upTo; i < at.length; i++)
        if (wanted[typeOf[i]!] && (actor === undefined || actorOf[i] === actor)) found.seqs.push(i + 1);
      found.upTo = at.length;
      return found.seqs;
    },
    atOf: (seq) => at[seq - 1] ?? 0,
    seqAt(when) {
      let low = 0;
      let high = at.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (at[middle]! <= when) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

interface Names {
  readonly names: readonly string[];
  numberOf(name: string): number;
  /** −1: nobody was called so yet. */
  known(name: string): number;
}

/** Few names, many events: numbers stand for them. */
function createNames(): Names {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  return {
    names,
    known: (name) => numbers.get(name) ?? -1,
    numberOf(name) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      numbers.set(name, names.length);
      return names.push(name) - 1;
    },
  };
}
