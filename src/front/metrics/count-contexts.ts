// Counting the contexts of one store in the background: each is read once, then only on from where it was; a restart begins with what snapshots hold.
import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import { isHoldfastError } from "../../ledger/error.ts";
import type { Codec } from "../../ledger/events.ts";
import type { Slice } from "../../ledger/fold.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { Seq, Store } from "../../ledger/store.ts";
import type { ContextCounts } from "./counts.ts";

/** So long it reads at a stretch: requests are answered in between. */
const STRETCH_MS = 12;
/** What becomes known within this time is told together. */
const TOGETHER_MS = 250;
/** Shorter ledgers are read again as fast as a snapshot. */
const SNAPSHOT_EVERY = 300;

export interface CountedContexts {
  /** Undefined until it was read. */
  of(context: string): ContextCounts | undefined;
  /** What made it unreadable, where something did. */
  damageOf(context: string): string | undefined;
  /** Where it is not read up to that event it is read on, when there is time. */
  wants(context: string, events: Seq): void;
  /** Contract: resolves when all of these are counted up to the event that was the last when it was called, as far as they can be read. */
  upToDate(contexts: Iterable<{ id: string; events: Seq }>): Promise<void>;
  /** Told together, a few times a second at most. */
  onKnown(tell: (contexts: readonly string[]) => void): void;
  /** Those that are gone are forgotten. */
  keepOnly(contexts: ReadonlySet<string>): void;
}

interface Counted {
  seq: Seq;
  counts: ContextCounts;
  savedAt: Seq;
  damage?: string;
}

export interface CountOptions {
  store: Store;
  codec: Codec;
  slice: Slice<ContextCounts>;
  signal: AbortSignal;
}

export function countContexts({ store, codec, slice, signal }: CountOptions): CountedContexts {
  const key = `figures@${slice.version}`;
  const types = [...(slice.types ?? [])];
  const counted = new Map<string, Counted>();
  const queue = new Set<string>();
  const known = new Set<string>();
  const listeners: ((contexts: readonly string[]) => void)[] = [];
  let working: Promise<void> | undefined;
  let isTelling = false;
  let since = performance.now();

  const fresh = (): Counted => ({ seq: 0, counts: slice.initial(), savedAt: 0 });

  async function begun(context: string): Promise<Counted> {
    const found = (await store.snapshots(context).load([key])).get(key);
    return found ? { seq: found.seq, counts: found.state as ContextCounts, savedAt: found.seq } : fresh();
  }

  async function pause(): Promise<void> {
    if (performance.now() - since < STRETCH_MS) return;
    await nextTick();
    since = performance.now();
  }

  async function count(context: string): Promise<void> {
    const head = await store.head(context);
    const before = counted.get(context) ?? (await begun(context));
    if (before.seq === head && counted.has(context)) return;
    // Another past was put in its place: what was counted is not in it.
    const one = before.seq > head ? fresh() : before;
    await read(context, one, head);
    one.seq = head;
    if (head === 0) counted.delete(context);
    else counted.set(context, one);
    known.add(context);
    tellSoon();
    if (store.readOnly || head - one.savedAt < Math.max(SNAPSHOT_EVERY, one.savedAt / 4)) return;
    one.savedAt = head;
    await store.snapshots(context).save(head, new Map([[key, one.counts]]));
  }

  async function read(context: string, one: Counted, head: Seq): Promise<void> {
    try {
      for await (const raw of store.read(context, { after: one.seq, upTo: head, types })) {
        // Long texts stay in their blobs: nothing of them is counted.
        const { data } = raw;
        const decoded = codec.decode({ ...raw, data: isRecord(data) && "$spill" in data ? data.value : data });
        if (decoded.ok) one.counts = slice.apply(one.counts, decoded.event);
        await pause();
      }
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error; // what stands before the damage is counted
      one.damage = error.message;
    }
  }

  async function work(): Promise<void> {
    for (const context of queue) {
      if (signal.aborted) return;
      queue.delete(context);
      await count(context).catch(() => undefined); // the store is closed or hangs: the next bell tries again
      await pause();
    }
  }

  function begin(): Promise<void> {
    working ??= nextTick()
      .then(work)
      .finally(() => {
        working = undefined;
      });
    return working;
  }

  function tellSoon(): void {
    if (isTelling) return;
    isTelling = true;
    sleep(TOGETHER_MS, undefined, { signal, ref: false })
      .then(() => {
        const all = [...known];
        known.clear();
        for (const tell of listeners) tell(all);
      })
      .catch(() => undefined)
      .finally(() => {
        isTelling = false;
        if (known.size > 0 && !signal.aborted) tellSoon();
      });
  }

  return {
    of: (context) => counted.get(context)?.counts,
    damageOf: (context) => counted.get(context)?.damage ?? store.damageOf?.(context)?.what,
    wants(context, events) {
      if ((counted.get(context)?.seq ?? 0) >= events) return;
      queue.add(context);
      begin().catch(() => undefined);
    },
    async upToDate(contexts) {
      for (const { id, events } of contexts) if (counted.get(id)?.seq !== events) queue.add(id);
      while (queue.size > 0 && !signal.aborted) await begin();
      await working;
    },
    onKnown(tell) {
      listeners.push(tell);
    },
    keepOnly(contexts) {
      for (const context of counted.keys()) if (!contexts.has(context)) counted.delete(context);
    },
  };
}
