// One context's ledger in this process: shared data, checkpoints and agents as its events say, and the last short values that were seen.
import type { DecideOptions, Decision as LedgerDecision } from "../ledger/decide.ts";
import { HoldfastError } from "../ledger/error.ts";
import { createCodec } from "../ledger/events.ts";
import { createFold } from "../ledger/fold.ts";
import { openLedger } from "../ledger/ledger.ts";
import type { EventInput, ReadOnly, Seq, Store, StoredEvent } from "../ledger/store.ts";
import { contextEvents } from "./events.ts";
import { contextSlice, type FoldState } from "./fold.ts";
import type { Json } from "./values.ts";

/** Of at most 2 kB each. */
const RECENT = 128;
const CONFIG = "ctx:config";

export type ContextDecision = LedgerDecision;
export type ContextWrite = Pick<DecideOptions, "lease" | "once" | "since">;

export interface ContextLedger {
  readonly id: string;
  readonly store: Store;
  /** As of the last look. Read only. */
  readonly state: FoldState;
  readonly readOnly: ReadOnly | undefined;
  /** Contract: throws `not_found` when the context is gone. */
  catchUp(): Promise<FoldState>;
  /** Contract: that of `Ledger.decide`; refused when the context was removed meanwhile. */
  decide(decide: (state: FoldState) => ContextDecision, opts?: ContextWrite): Promise<StoredEvent[]>;
  /** Contract: throws `conflict` unless the entity stands at that version, as far as was read. To be asked inside a decision that reads it. */
  expect(entity: string, version: Seq): void;
  /** A short value that was read or written lately, by the seq of its event. */
  recent(seq: Seq): Json | undefined;
  saveSnapshot(): Promise<void>;
}

export interface OpenLedgerOptions {
  /** As it was at that event; it cannot be written then. */
  upTo?: Seq;
  /** False: folded from the first event. */
  fromSnapshot?: boolean;
}

/** It reads what contexts record, and nothing of what the loop does: no transcript is folded, no value loaded. */
export async function openContextLedger(
  store: Store,
  id: string,
  opts: OpenLedgerOptions = {},
): Promise<ContextLedger> {
  const lately = new Map<Seq, Json>();
  const ledger = await openLedger({
    ...{ store, name: id, ...opts },
    codec: createCodec([{ events: contextEvents }]),
    fold: createFold({ contexts: contextSlice }),
    missing: () =>
      new HoldfastError("not_found", `there is no context ${id}`, { detail: { id }, next: "list contexts" }),
    onEvent({ seq, data }) {
      const { value } = (data ?? {}) as { value?: Json };
      if (value === undefined) return;
      lately.set(seq, value);
      if (lately.size <= RECENT) return;
      for (const oldest of lately.keys()) {
        lately.delete(oldest);
        break;
      }
    },
  });
  const state = () => ledger.state.slices.contexts as FoldState;

  /** Nothing is written into a context that was removed: what made it, or last changed its settings, is guarded. */
  function guarded(decision: ContextDecision): ContextDecision {
    const { events, reads = [] } = decision;
    const [first, ...rest] = events;
    // A context of an older loop has no such entity yet: from here on it has.
    const touched = first && ledger.version(CONFIG) === 0 ? [touching(first, CONFIG), ...rest] : events;
    return { ...decision, events: touched, reads: [...reads, CONFIG] };
  }

  return {
    id,
    store,
    get state() {
      return state();
    },
    get readOnly() {
      return ledger.readOnly;
    },
    async catchUp() {
      await ledger.catchUp();
      return state();
    },
    decide: (decide, how) => ledger.decide(() => guarded(decide(state())), how),
    expect(entity, version) {
      const actual = ledger.version(entity);
      if (actual !== version)
        throw new HoldfastError("conflict", `${entity} has version ${actual}, not ${version}: read it again`);
    },
    recent(seq) {
      const value = lately.get(seq);
      return value === undefined ? undefined : structuredClone(value);
    },
    saveSnapshot: () => ledger.saveSnapshot(),
  };
}

const touching = (event: EventInput, entity: string): EventInput => ({
  ...event,
  touches: [...(event.touches ?? []), entity],
});
