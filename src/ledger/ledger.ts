// Owns one open ledger: its folded state, kept up with what this and other processes append.
import { HoldfastError, isHoldfastError } from "./error.ts";
import type { Codec } from "./events.ts";
import type { Fold, State } from "./fold.ts";
import { newId } from "./id.ts";
import { spill, unspill } from "./spill.ts";
import type { AppendOptions, Base, Damage, EventInput, Seq, Store, StoredEvent } from "./store.ts";

const SNAPSHOT_EVERY = 300;
/** What was appended with `soon` is durable after this long at the latest. */
const SOON_MS = 20;

interface Problem {
  seq: Seq;
  kind: "newer" | "invalid" | "damaged";
  reason: string;
}

export interface Ledger {
  readonly name: string;
  readonly store: Store;
  /** What the events say so far. Read only. */
  readonly state: State;
  /** Everything read that could not be folded; nothing is dropped in silence. */
  readonly problems: readonly Problem[];
  /** Why nothing may be appended: a newer writer was here, or damage. */
  readonly readOnly: string | undefined;
  /**
   * Contract: durable and folded when it resolves. With `soon` it is only folded: it becomes durable in one transaction with the
   * next append, which must come before any effect, or a few milliseconds later by itself. The fold of such an event may not
   * depend on its seq or time: both are only known then.
   */
  append(events: EventInput[], opts?: AppendOptions & { summary?: unknown; soon?: boolean }): Promise<StoredEvent[]>;
  /** Folds in what others appended. */
  catchUp(): Promise<void>;
  /** Called with each event, after it was folded. Contract: observers change nothing and do not throw. */
  subscribe(observer: (event: StoredEvent) => void): () => void;
  /** Saves the folded state when enough has happened since the last time. */
  saveSnapshot(): Promise<void>;
}

const keyOf = (lease: AppendOptions["lease"]): string => (lease ? `${lease.name}#${lease.term}#${lease.token}` : "");

const baseOf = ({ seq, sum }: StoredEvent): Base | undefined => (sum === undefined ? undefined : { seq, sum });

export async function openLedger(opts: { store: Store; name: string; codec: Codec; fold: Fold }): Promise<Ledger> {
  const { store, name, codec, fold } = opts;
  const snapshots = store.snapshot(name, fold.version);
  const loaded = await snapshots.load();
  let state = loaded ? (loaded.state as State) : fold.initial();
  let savedAt = loaded?.seq ?? 0;
  const problems: Problem[] = [];
  const observers = new Set<(event: StoredEvent) => void>();
  let readOnly = store.readOnly;
  /** The last event that was read or recorded: a store that has another past refuses what rests on it. */
  let base: Base | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** One append or catch-up at a time: events are folded in order of seq. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };

  /** Folded, and durable with the next append. */
  let held: StoredEvent[] = [];
  let heldFor: AppendOptions["lease"];
  let timer: NodeJS.Timeout | undefined;
  /** By lease: what was folded under it could not be recorded, so its holder may not go on. */
  const failed = new Map<string, unknown>();

  async function hold(events: EventInput[], lease: AppendOptions["lease"]): Promise<StoredEvent[]> {
    const stored = events.map((e) => {
      const { id = newId("evt"), touches = [] } = e;
      const { v = 1, ...encoded } = codec.encode(e);
      const event: StoredEvent = { ...encoded, v, id, touches, seq: state.seq + 1, at: Date.now() };
      take(event);
      return event;
    });
    held.push(...stored);
    heldFor = lease;
    timer ??= setTimeout(() => {
      inTurn(flush).catch(() => undefined);
    }, SOON_MS);
    return stored;
  }

  /** What another holder has said becomes durable by itself: each is fenced alone. */
  async function giveWay(lease: AppendOptions["lease"]): Promise<void> {
    if (keyOf(lease) !== keyOf(heldFor)) await flush();
  }

  /** Makes durable what is held. Contract: when that is refused, the state is folded anew without it, and only its holder is stopped. */
  async function flush(): Promise<void> {
    if (held.length === 0) return;
    try {
      await write([], {});
    } catch (error) {
      failed.set(keyOf(heldFor), error);
      clearTimeout(timer);
      timer = undefined;
      const recorded = state.seq - held.length;
      held = [];
      heldFor = undefined;
      const again = await snapshots.load();
      state = again && again.seq <= recorded ? (again.state as State) : fold.initial();
      await readOn(recorded, { told: true });
      await readOn();
    }
  }

  /** One transaction: what is held, then `events`. */
  async function write(
    events: EventInput[],
    { summary, ...opts }: AppendOptions & { summary?: unknown },
  ): Promise<StoredEvent[]> {
    const lease = opts.lease ?? heldFor;
    const before = held;
    const blobs = [...(opts.blobs ?? [])];
    const whole = [...before.map(({ seq: _, at: __, ...e }) => e), ...events.map((e) => codec.encode(e))];
    if (whole.length === 0) return [];
    const writes = whole.map((e) => {
      const spilled = spill(e.data);
      blobs.push(...spilled.blobs);
      return { ...e, data: spilled.data };
    });
    const stored = await store.append([{ ledger: name, events: writes, summary, base }], {
      ...opts,
      ...(lease && { lease }),
      blobs,
    });
    clearTimeout(timer);
    timer = undefined;
    held = [];
    heldFor = undefined;
    const folded = state.seq - before.length;
    const first = stored[0]!.seq;
    if (first > folded + 1) {
      // Others appended meanwhile: their events are folded behind those that were held, which depend on none of them.
      state.seq = folded;
      await readOn(first - 1);
      state.seq += before.length;
    }
    base = baseOf(stored.at(-1)!);
    return stored.slice(before.length).map((s, i) => {
      const event = { ...s, data: whole[before.length + i]!.data };
      if (s.seq > state.seq) take(event);
      return event;
    });
  }

  function take(event: StoredEvent, { told = false } = {}): void {
    state = fold.apply(state, event);
    if (!told) for (const observe of observers) observe(event);
  }

  async function readOn(upTo?: Seq, as: { told?: boolean } = {}): Promise<void> {
    try {
      for await (const raw of store.read(
        name,
        upTo === undefined ? { after: state.seq } : { after: state.seq, upTo },
      )) {
        base = baseOf(raw);
        const { data, missing } = await unspill(raw.data, store.blob);
        if (missing.length > 0) note({ seq: raw.seq, kind: "damaged", reason: `missing blob ${missing.join(", ")}` });
        const decoded = codec.decode({ ...raw, data });
        if (decoded.ok) {
          take(decoded.event, as);
          continue;
        }
        note({ seq: raw.seq, kind: decoded.problem, reason: decoded.reason });
        if (decoded.problem === "newer") {
          readOnly ??= `written by a newer Holdfast (${decoded.reason}): upgrade to work on it`;
        }
        state.seq = raw.seq;
      }
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error;
      note({ seq: (error.detail as Damage | undefined)?.seq ?? state.seq + 1, kind: "damaged", reason: error.message });
      readOnly ??= error.message;
    }
  }

  function note(problem: Problem): void {
    if (!problems.some((p) => p.seq === problem.seq && p.kind === problem.kind)) problems.push(problem);
  }

  await readOn();

  return {
    name,
    store,
    get state() {
      return state;
    },
    problems,
    get readOnly() {
      return readOnly;
    },
    append: (events, { soon = false, ...appendOpts } = {}) =>
      inTurn(async () => {
        if (readOnly)
          throw new HoldfastError(problems.some((p) => p.kind === "damaged") ? "damaged" : "upgrade", readOnly);
        await giveWay(appendOpts.lease);
        if (failed.has(keyOf(appendOpts.lease))) throw failed.get(keyOf(appendOpts.lease));
        return soon ? hold(events, appendOpts.lease) : write(events, appendOpts);
      }),
    catchUp: () =>
      inTurn(async () => {
        await flush();
        await readOn();
      }),
    subscribe(observer) {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    saveSnapshot: () =>
      inTurn(async () => {
        await flush();
        if (readOnly || state.seq - savedAt < Math.max(SNAPSHOT_EVERY, savedAt / 4)) return;
        await snapshots.save(state.seq, state);
        savedAt = state.seq;
      }),
  };
}
