// Owns one context's state in this process: caught up by reading on, written under guards, decided anew when someone was faster.
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import type { AppendOptions, EventInput, Seq, Store, StoredEvent, Write } from "../ledger/store.ts";
import { applyEvent, FOLD_VERSION, type FoldState, initialState, OWN_TYPES } from "./fold.ts";
import type { Json } from "./values.ts";

/** Whoever has read so many events on opening saves others the work. */
const SNAPSHOT_EVERY = 500;
/** Of at most 2 kB each. */
const RECENT = 128;
const GIVE_UP_MS = 30_000;
const LONGEST_PAUSE_MS = 12;

/** What to append, and every entity the decision read. */
export interface Decision {
  events: EventInput[];
  expect?: Record<string, Seq>;
  blobs?: Uint8Array[];
  summary?: unknown;
  /** Writes to other ledgers, in the same transaction. */
  beside?: Write[];
}

export interface TimelineWrite extends AppendOptions {
  /** One try: a conflict is the caller's to decide on. */
  once?: boolean;
}

export interface Timeline {
  readonly id: string;
  readonly store: Store;
  /** As of the last look. Read only. */
  readonly state: FoldState;
  /** Why nothing can be written, or what follows cannot be read. */
  readonly damage: string | undefined;
  /** Contract: throws `not_found` when the context is gone. */
  catchUp(): Promise<FoldState>;
  /**
   * Contract: durable and folded when it resolves. `decide` sees the state and may be called again when it was not the newest: it
   * changes nothing, and what it throws counts only on the newest state.
   */
  write(decide: (state: FoldState) => Decision | Promise<Decision>, opts?: TimelineWrite): Promise<StoredEvent[]>;
  /** A short value that was read or written lately, by the seq of its event. */
  recent(seq: Seq): Json | undefined;
  saveSnapshot(): Promise<void>;
}

export async function openTimeline(store: Store, id: string): Promise<Timeline> {
  const snapshots = store.snapshots(id);
  const loaded = (await snapshots.load([FOLD_VERSION])).get(FOLD_VERSION);
  const state = loaded ? thaw(loaded.state) : initialState();
  let savedAt = loaded?.seq ?? 0;
  let damage = store.readOnly?.message;
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time: events are folded in order of seq. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };

  const lately = new Map<Seq, Json>();
  function take(event: StoredEvent): void {
    applyEvent(state, event);
    const { value } = (event.data ?? {}) as { value?: Json };
    if (value === undefined) return;
    lately.set(event.seq, value);
    if (lately.size > RECENT) lately.delete(lately.keys().next().value!);
  }

  async function readOn(): Promise<void> {
    const head = await store.head(id);
    if (head === 0)
      throw new HoldfastError("not_found", `there is no context ${id}: list() says which there are`, {
        detail: { id },
      });
    if (head <= state.seq) return;
    try {
      for await (const event of store.read(id, { after: state.seq, upTo: head, types: OWN_TYPES })) {
        take(event);
      }
      state.seq = head;
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error;
      damage ??= error.message;
    }
  }

  async function attempt(decision: Decision, opts: AppendOptions): Promise<StoredEvent[]> {
    const { events, expect, blobs = [], summary, beside = [] } = decision;
    const config = state.versions.config;
    // A context of an older loop has no such entity yet: from here on it has, so that no write can raise a removed one from the dead.
    const first = config === 0 && events[0] ? [touching(events[0], "ctx:config"), ...events.slice(1)] : events;
    const own: Write = {
      ledger: id,
      events: first,
      expect: { ...expect, "ctx:config": config },
      ...(summary !== undefined && { summary }),
    };
    const stored = await store.append([own, ...beside], { ...opts, ...(blobs.length > 0 && { blobs }) });
    const mine = stored.slice(0, events.length);
    if (mine.length > 0 && mine[0]!.seq === state.seq + 1) for (const event of mine) take(event);
    else await readOn();
    return mine;
  }

  await readOn();
  return {
    id,
    store,
    state,
    get damage() {
      return damage;
    },
    catchUp: () =>
      inTurn(async () => {
        await readOn();
        return state;
      }),
    recent(seq) {
      const value = lately.get(seq);
      return value === undefined ? undefined : structuredClone(value);
    },
    write: (decide, { once = false, ...opts } = {}) =>
      inTurn(async () => {
        const giveUpAt = Date.now() + GIVE_UP_MS;
        for (let tries = 0; ; tries++) {
          if (damage) throw new HoldfastError("damaged", `${id} cannot be written: ${damage}`);
          const position = state.seq;
          let decision: Decision | undefined;
          try {
            decision = await decide(state);
            return await attempt(decision, opts);
          } catch (error) {
            if (once && decision) throw error;
            if ((decision && !isHoldfastError(error, "conflict")) || Date.now() > giveUpAt) throw error;
            if (tries > 1) await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, tries));
            await readOn();
            if (state.seq === position) throw error; // judged on the newest state
          }
        }
      }),
    saveSnapshot: () =>
      inTurn(async () => {
        if (damage || store.readOnly || state.seq - savedAt < SNAPSHOT_EVERY) return;
        await snapshots.save(state.seq, new Map([[FOLD_VERSION, freeze(state)]]));
        savedAt = state.seq;
      }),
  };
}

function touching(event: EventInput, entity: string): EventInput {
  return { ...event, touches: [...(event.touches ?? []), entity] };
}

/** As JSON, for a snapshot and for comparing two folds. */
export function freeze(state: FoldState): unknown {
  const { keys, asked, records, bases, schemaAt, agents, ...rest } = state;
  const kept = { keys: [...keys], asked: [...asked], records: [...records] };
  return { ...rest, ...kept, bases: [...bases], schemaAt: [...schemaAt], agents: [...agents] };
}

function thaw(frozen: unknown): FoldState {
  const state = frozen as Record<"keys" | "asked" | "records" | "bases" | "schemaAt" | "agents", [string, never][]>;
  return {
    ...(frozen as FoldState),
    keys: new Map(state.keys),
    asked: new Map(state.asked),
    records: new Map(state.records),
    bases: new Map(state.bases),
    schemaAt: new Map(state.schemaAt),
    agents: new Map(state.agents),
  };
}
