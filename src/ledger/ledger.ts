// One open ledger: its folded state, kept up with what this and other processes append. Facts are appended and decided here, and nowhere else.
import { damageIn } from "./damage-in.ts";
import { type DecideOptions, type Decision, type DecisionWriteOptions, decideOn } from "./decide.ts";
import { HoldfastError, isHoldfastError } from "./error.ts";
import { type Codec, EXTENDED, type Extension } from "./events.ts";
import { extensionsIn, type Fold, type State, type Versions } from "./fold.ts";
import { newId } from "./id.ts";
import { own } from "./own.ts";
import { spill, unspill } from "./spill.ts";
import type { AppendOptions, Base, EventInput, ReadOnly, Seq, Store, StoredEvent, Write } from "./store.ts";

const SNAPSHOT_EVERY = 300;
/** What was appended as `deferred` is durable after this long at the latest. */
const SOON_MS = 20;
interface Problem {
  seq: Seq;
  kind: "newer" | "invalid" | "damaged";
  reason: string;
}

/** `deferred`: with whatever is appended next, or a moment later. */
export type Durability = "now" | "deferred";

export interface Ledger {
  readonly name: string;
  readonly store: Store;
  /** What the events say so far. Read only. */
  readonly state: State;
  /** Everything read that could not be folded; nothing is dropped in silence. */
  readonly problems: readonly Problem[];
  /** Why nothing may be appended. */
  readonly readOnly: ReadOnly | undefined;
  /** Contract: the seq of the last event that touched the entity, as far as this ledger has read; 0: none. */
  version(entity: string): Seq;
  /**
   * Contract: durable and folded when it resolves. `deferred` it is only folded: it becomes durable in one transaction with the
   * next append, which must come before any effect, or a few milliseconds later by itself. The fold of such an event may not
   * depend on its seq or time: both are only known then.
   */
  append(
    events: EventInput[],
    opts?: AppendOptions & { summary?: unknown; durability?: Durability },
  ): Promise<StoredEvent[]>;
  /**
   * The one way to write what depends on what is there. Contract: durable and folded when it resolves. `decide` sees the state, may be
   * called again on a newer one, changes nothing, and reads nothing else; what it throws counts only on the newest state. It rests
   * on nothing that is not durable.
   */
  decide(decide: (state: State) => Decision, opts?: DecideOptions): Promise<StoredEvent[]>;
  /** Folds in what others appended. */
  catchUp(): Promise<Seq>;
  /** Contract: everything that was appended under this lease is durable when it resolves. */
  durable(lease?: AppendOptions["lease"]): Promise<void>;
  /** Called with each event once it is durable and folded, in order of seq. Contract: observers change nothing and do not throw. */
  subscribe(observer: (event: StoredEvent) => void): () => void;
  /** Saves the folded state when enough has happened since the last time. */
  saveSnapshot(): Promise<void>;
}

export interface LedgerOptions {
  store: Store;
  name: string;
  codec: Codec;
  fold: Fold;
  /** Contract: throws that error when the ledger is not, or no longer, there. Default: it begins with its first event. */
  missing?: () => HoldfastError;
  /** Where to stop reading: for looking at the past. Nothing can be appended then. */
  upTo?: Seq;
  /** False: folded from the first event. */
  fromSnapshot?: boolean;
  /** The first observer: also told of what is read while it opens. */
  onEvent?: (event: StoredEvent) => void;
}

/** What a mechanism folds; whoever asks knows the type. */
export const sliceOf = <T>({ state }: Pick<Ledger, "state">, name: string): T => state.slices[name] as T;

const keyOf = (lease: AppendOptions["lease"]): string => (lease ? `${lease.name}#${lease.term}#${lease.token}` : "");

const baseOf = ({ seq, sum }: StoredEvent): Base | undefined => (sum === undefined ? undefined : { seq, sum });

/** How often each store was found to have another past: every ledger that was folded before is folded anew. */
const pastsGone = new WeakMap<Store, number>();

export async function openLedger(opts: LedgerOptions): Promise<Ledger> {
  const { store, name, codec, fold, missing } = opts;
  let { state, versions, behind } = await load();
  let savedAt = state.seq;
  const problems: Problem[] = [];
  const observers = new Set<(event: StoredEvent) => void>(opts.onEvent ? [opts.onEvent] : []);
  let readOnly = store.readOnly;
  /** The last event that was read or recorded: a store that has another past refuses what rests on it. */
  let base: Base | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** One append, decision or catch-up at a time: events are folded in order of seq. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const begin = () => {
      if (!outdated && foldedIn !== pastsGone.get(store)) giveUp(undefined);
      return outdated ? foldAnew().then(work) : work();
    };
    const next = last.then(begin, begin);
    last = next.catch(() => undefined);
    return next;
  };

  /** Folded, and durable with the next append. */
  let held: StoredEvent[] = [];
  let heldFor: AppendOptions["lease"];
  let timer: NodeJS.Timeout | undefined;
  /** By lease: what was folded under it could not be recorded, so its holder may not go on. */
  const failed = new Map<string, unknown>();
  /** What is folded is not what is recorded: each turn begins by folding anew, until the store can be asked. */
  let outdated: { told: Seq } | undefined;
  let foldedIn = pastsGone.get(store);

  async function load(): Promise<{ state: State; versions: Versions; behind: Map<string, Seq> | undefined }> {
    const found = opts.fromSnapshot === false ? new Map() : await store.snapshots(name).load(fold.keys);
    for (const [key, { seq }] of found) if (seq > (opts.upTo ?? seq)) found.delete(key);
    const thawed = fold.thaw(found);
    return [...thawed.behind.values()].every((seq) => seq === thawed.state.seq)
      ? { ...thawed, behind: undefined }
      : thawed;
  }

  async function hold(events: EventInput[], lease: AppendOptions["lease"]): Promise<StoredEvent[]> {
    const stored = encode(events).map(({ id = newId("evt"), touches = [], v = 1, ...e }) => {
      const event: StoredEvent = { ...e, v, id, touches, seq: state.seq + 1, at: Date.now() };
      fold.apply(state, event);
      return event;
    });
    held.push(...stored);
    heldFor = lease;
    timer ??= setTimeout(() => {
      inTurn(flush).catch(() => undefined);
    }, SOON_MS);
    return stored;
  }

  /** Drops what is held, of which it is not known or not true that it is recorded. */
  function giveUp(error: unknown): void {
    if (held.length > 0)
      failed.set(
        keyOf(heldFor),
        error ??
          new HoldfastError(
            "rolled_back",
            `ledger ${name} has another past than the one that was folded: open it anew`,
          ),
      );
    clearTimeout(timer);
    timer = undefined;
    outdated = { told: state.seq - held.length };
    held = [];
    heldFor = undefined;
  }

  async function foldAnew(): Promise<void> {
    if (!outdated) return;
    foldedIn = pastsGone.get(store);
    ({ state, versions, behind } = await load());
    base = undefined;
    await readOn({ toldUpTo: outdated.told });
    outdated = undefined;
  }

  /** Makes durable what is held. Contract: when that is refused, the state is folded anew without it, and only its holder is stopped; throws `unreachable`. */
  async function flush(): Promise<void> {
    if (held.length === 0) return;
    try {
      await write([], {});
    } catch (error) {
      if (!outdated) giveUp(error);
      if (isHoldfastError(error, "unreachable")) throw error; // nor can it be read: the next turn does that
      await foldAnew();
    }
  }

  /** One transaction: what is held, then `events`. */
  async function write(
    events: EventInput[],
    { summary, expect, beside = [], ...appendOpts }: DecisionWriteOptions,
  ): Promise<StoredEvent[]> {
    const lease = appendOpts.lease ?? heldFor;
    const before = held;
    const blobs = [...(appendOpts.blobs ?? [])];
    const encoded = encode(events);
    const whole = before.length === 0 ? encoded : [...before.map(({ seq: _, at: __, ...e }) => e), ...encoded];
    if (whole.length === 0 && beside.length === 0) return [];
    const writes = whole.map((e) => {
      const spilled = spill(e.data);
      if (!spilled) return e;
      blobs.push(...spilled.blobs);
      return { ...e, data: spilled.data };
    });
    const own: Write = { ledger: name, events: writes, summary, base, ...(expect && { expect }) };
    const stored = await appended([own, ...beside], {
      ...appendOpts,
      ...(lease && { lease }),
      ...(blobs.length > 0 && { blobs }),
    });
    clearTimeout(timer);
    timer = undefined;
    held = [];
    heldFor = undefined;
    const asGiven = (event: StoredEvent, i: number) => {
      const given = whole[i];
      return given === undefined || writes[i] === given ? event : { ...event, data: given.data };
    };
    const mine = stored.slice(0, whole.length).map(asGiven);
    const first = mine[0]?.seq ?? 0;
    const folded = state.seq - before.length;
    if (first > folded + 1) {
      // Others appended meanwhile: their events are folded behind those that were held, which depend on none of them.
      state.seq = folded;
      await readOn({ upTo: first - 1 });
      state.seq += before.length;
    }
    const newest = mine.at(-1);
    if (newest) base = baseOf(newest);
    for (const [i, event] of mine.entries()) {
      if (i < before.length) note(event);
      else if (event.seq > state.seq) take(event);
    }
    return mine.slice(whole.length - events.length);
  }

  async function appended(writes: Write[], appendOpts: AppendOptions): Promise<StoredEvent[]> {
    try {
      return await store.append(writes, appendOpts);
    } catch (error) {
      // Whether it is recorded is not known: what is held may not come again beside other events.
      if (held.length > 0 && isHoldfastError(error, "unreachable")) giveUp(error);
      // What it rests on is not there: because another past was put in its place, or because the whole was removed.
      if (missing && isHoldfastError(error, "rolled_back") && (await store.head(name)) === 0) throw missing();
      if (isHoldfastError(error, "rolled_back")) {
        pastsGone.set(store, (pastsGone.get(store) ?? 0) + 1);
        if (appendOpts.lease) failed.set(keyOf(appendOpts.lease), error); // its holder works on what is gone
      }
      throw error;
    }
  }

  /** Before the first event of a mechanism that other programs may lack stands whose it is. */
  function encode(events: EventInput[]): EventInput[] {
    const known = extensionsIn(state);
    const fresh = new Map<string, Extension>();
    for (const { type } of events) {
      const extension = codec.extensionOf(type);
      if (extension && !own(known, type)) fresh.set(extension.mechanism, extension);
    }
    const declared = [...fresh.values()].map((data) => ({ type: EXTENDED, actor: "holdfast", data }));
    return (declared.length === 0 ? events : [...declared, ...events]).map((e) => codec.encode(e));
  }

  function take(event: StoredEvent, { told = false } = {}): void {
    fold.apply(state, event, behind);
    note(event, { told });
  }

  /** What is true of every event that is durable, whether it was folded before or just now. */
  function note(event: StoredEvent, { told = false } = {}): void {
    for (const entity of event.touches) versions.set(entity, { seq: event.seq, type: event.type });
    if (!told) for (const observe of observers) observe(event);
  }

  const types = fold.types && [...fold.types];

  async function readOn({ upTo = opts.upTo, toldUpTo = 0 }: { upTo?: Seq; toldUpTo?: Seq } = {}): Promise<void> {
    try {
      // Who reads every event sees where they end; others, and those who must know whether it is there, ask first.
      const head = upTo === undefined && (types || missing) ? await store.head(name) : upTo;
      if (head === 0 && missing) throw missing();
      if (head !== undefined && head <= state.seq) return;
      const range = { after: state.seq, ...(head !== undefined && { upTo: head }), ...(types && { types }) };
      for await (const raw of store.read(name, range)) {
        base = baseOf(raw);
        const { data, missing: lost } = await unspill(raw.data, store.blob);
        if (lost.length > 0) report({ seq: raw.seq, kind: "damaged", reason: `missing blob ${lost.join(", ")}` });
        const decoded = codec.decode({ ...raw, data });
        if (decoded.ok) take(decoded.event, { told: raw.seq <= toldUpTo });
        else {
          passOver(raw, decoded.problem, decoded.reason);
          state.seq = raw.seq;
        }
      }
      if (types && head !== undefined) state.seq = head;
      behind = undefined;
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error;
      report({
        seq: damageIn(error)?.seq ?? state.seq + 1,
        kind: "damaged",
        reason: error.message,
      });
      readOnly ??= { code: "damaged", message: error.message };
    }
  }

  /** An event that cannot be folded here: whether one may go on without it depends on whose it is. */
  function passOver(raw: StoredEvent, problem: "unknown" | "newer" | "invalid", reason: string): void {
    const extension = problem === "unknown" ? own(extensionsIn(state), raw.type) : undefined;
    if (extension) {
      if (!extension.required) return;
      const message = `its mechanism ${extension.mechanism} is missing here (event ${raw.seq}, ${raw.type}): open it with a program that has it`;
      readOnly ??= { code: "mechanism", message };
      return;
    }
    report({ seq: raw.seq, kind: problem === "invalid" ? "invalid" : "newer", reason });
    if (problem !== "invalid")
      readOnly ??= { code: "upgrade", message: `written by a newer Holdfast (${reason}): upgrade to work on it` };
  }

  function report(problem: Problem): void {
    if (!problems.some((p) => p.seq === problem.seq && p.kind === problem.kind)) problems.push(problem);
  }

  function refuseReadOnly(): void {
    if (readOnly)
      throw new HoldfastError(readOnly.code, readOnly.message, { detail: { ledger: name, what: readOnly.message } });
    if (opts.upTo !== undefined)
      throw new HoldfastError("invalid", `${name} was opened at event ${opts.upTo}: it is the past`);
  }

  const version = (entity: string): Seq => versions.get(entity)?.seq ?? 0;

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
    version,
    append: (events, { durability, ...appendOpts } = {}) =>
      inTurn(async () => {
        refuseReadOnly();
        // What another holder has said becomes durable by itself: each is fenced alone.
        if (keyOf(appendOpts.lease) !== keyOf(heldFor)) await flush();
        if (failed.has(keyOf(appendOpts.lease))) throw failed.get(keyOf(appendOpts.lease));
        return durability === "deferred" ? hold(events, appendOpts.lease) : write(events, appendOpts);
      }),
    decide: (decide, how = {}) =>
      inTurn(async () => {
        if (held.length > 0) await flush();
        if (failed.has(keyOf(how.lease))) throw failed.get(keyOf(how.lease));
        return decideOn(
          { store, name, codec, state: () => state, version, readOn, write, refuseReadOnly },
          decide,
          how,
        );
      }),
    catchUp: () =>
      inTurn(async () => {
        await flush();
        await readOn();
        return state.seq; // nothing is held here
      }),
    durable: (lease) =>
      inTurn(async () => {
        await flush();
        if (failed.has(keyOf(lease))) throw failed.get(keyOf(lease));
      }),
    subscribe(observer) {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    saveSnapshot: () =>
      inTurn(async () => {
        await flush();
        if (readOnly || opts.upTo !== undefined || state.seq - savedAt < Math.max(SNAPSHOT_EVERY, savedAt / 4)) return;
        const sum = base?.seq === state.seq ? base.sum : undefined;
        await store.snapshots(name).save(state.seq, fold.freeze(state, versions), sum);
        savedAt = state.seq;
      }),
  };
}
