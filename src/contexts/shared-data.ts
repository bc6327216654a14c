// Shared data: writes by compare-and-set under schema and quota, appends that never conflict, reads of a part, history.
import { AsyncLocalStorage } from "node:async_hooks";
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import { monotonicMs } from "../ledger/holder.ts";
import type { EventInput, Fence, Seq } from "../ledger/store.ts";
import { authorize, RESULTS, type Writer } from "./authority.ts";
import { writeChecked } from "./checked-write.ts";
import { checkpointEvent } from "./checkpoints.ts";
import type { ContextDecision, ContextLedger, ContextWrite } from "./context-ledger.ts";
import { entryAt, entryOf, type FoldState, presentAt, type SharedEntry, versionOf } from "./fold.ts";
import { select } from "./json-path.ts";
import { readEntry, type ValueProblem } from "./read-value.ts";
import type { Checker } from "./schemas.ts";
import { checkTtl } from "./settings.ts";
import { type Encoded, encodeValue, type Json, type JsonType } from "./values.ts";

const MERGE_GIVE_UP_MS = 30_000;
const KEY_CHARS = 200;

export interface WriteOptions {
  /** The version that the decision read (0: not there); refused with `conflict` when the key has another one now. */
  expect?: Seq;
  author?: string;
  /** The tool call that this comes from. */
  call?: string;
  /** From then on the key counts as absent. */
  ttlMs?: number;
}

export interface SharedInfo {
  key: string;
  type: JsonType;
  bytes: number;
  author: string;
  version: Seq;
  at: number;
  call?: string;
  /** The beginning of its JSON. */
  preview: string;
  expiresAt?: number;
}

export interface HistoryEntry {
  op: "set" | "append" | "remove";
  version: Seq;
  at: number;
  author: string;
  call?: string;
  type: JsonType;
  bytes: number;
  preview: string;
  /** It is on the timeline of now: no restore has gone behind it. */
  current: boolean;
  recovers?: Seq;
}

export type Reducer = (before: Json, next: Json) => Json;

export interface SharedData {
  /** With a reducer for the key: joined with what is there. Contract: refused whole, or durable when it resolves. */
  share(key: string, value: unknown, opts?: WriteOptions): Promise<SharedInfo>;
  /** Several keys in one transaction; with `checkpoint` the position behind them too: the end of a phase. */
  shareAll(
    values: Record<string, unknown>,
    opts?: Omit<WriteOptions, "expect"> & { checkpoint?: string },
  ): Promise<SharedInfo[]>;
  /** Adds one item to a list; begins the list if there is none. Contract: never conflicts with other appends. */
  append(key: string, item: unknown, opts?: Omit<WriteOptions, "expect">): Promise<SharedInfo>;
  remove(key: string, opts?: Pick<WriteOptions, "expect" | "author" | "call">): Promise<void>;
  /** Read, change, write; again when someone was faster. `fn` gets undefined when the key is absent, and must not change the world. */
  merge(
    key: string,
    fn: (value: Json | undefined) => unknown | Promise<unknown>,
    opts?: Omit<WriteOptions, "expect">,
  ): Promise<SharedInfo>;
  /** The value, or the part of it that a path names; undefined when there is none. `version`: as it was then. */
  read(key: string, path?: string, opts?: { version?: Seq }): Promise<Json | undefined>;
  list(): Promise<SharedInfo[]>;
  /** Oldest first, on every ledger. */
  history(key: string): Promise<HistoryEntry[]>;
}

export interface DataOptions {
  ledger: ContextLedger;
  checker: Checker;
  /** On whose authority; an agent is the author of all it writes. */
  writer: Writer;
  reducers: Record<string, Reducer>;
  /** Keys that are lists whoever writes first, beside those that the context declares: `share` refuses anything else there. */
  lists: ReadonlySet<string>;
  lease?: Fence;
  onProblem?: (problem: ValueProblem) => void;
}

/** The keys that the code at hand is merging: a merge inside one of them would wait for itself. */
const mergingHere = new AsyncLocalStorage<ReadonlySet<string>>();

export function createSharedData(opts: DataOptions): SharedData {
  const { ledger, checker, reducers, writer } = opts;
  const authorOf = ({ author }: { author?: string }): string =>
    writer.kind === "agent" ? writer.name : (author ?? writer.name);
  const appendOpts = opts.lease ? { lease: opts.lease } : {};
  /** Merges of one key in this process go one after the other: they would only get in each other's way. */
  const merging = new Map<string, Promise<unknown>>();

  const infoOf = (key: string, entry: SharedEntry, version: Seq): SharedInfo => {
    const { type, bytes, author, at, call, preview, expiresAt } = entry;
    const optional = { ...(call && { call }), ...(expiresAt !== undefined && { expiresAt }) };
    return { key, type, bytes, author, version, at, preview, ...optional };
  };
  /** Of what was just written: it may be behind a restore by now. */
  const writtenAs = (key: string, seq: Seq): SharedInfo => infoOf(key, entryOf(ledger.state, key, seq)!, seq);

  async function put(
    values: [string, unknown][],
    write: WriteOptions & ContextWrite & { checkpoint?: string },
  ): Promise<SharedInfo[]> {
    const encoded = values.map(([key, value]): [string, Encoded] => [named(key), encodeValue(key, value)]);
    const author = authorOf(write);
    if (write.ttlMs !== undefined) checkTtl(write.ttlMs);
    const check = async (state: FoldState) => {
      for (const [key, value] of values) if (!checker.isFree(state, key)) await checker.value(state, key, value);
    };
    const decide = (state: FoldState): ContextDecision => {
      const reads: string[] = [];
      for (const [key, { facts }] of encoded) {
        authorize(state, writer, key, "set");
        // Who wrote it first was read: two agents cannot both be that.
        if (writer.kind === "agent") reads.push(...entitiesOf(key));
        if (isList(state, key) && facts.type !== "array")
          throw new HoldfastError("invalid", `${key} is a list: append to it, or share an array`);
      }
      const [first] = encoded;
      if (first && write.expect !== undefined) reads.push(...expected(state, first[0], write.expect));
      const events = encoded.map(([key, { facts }]) => sharedEvent(key, facts, { ...write, author }));
      const growth = encoded.map(([key, { facts }]) => ({ key, bytes: facts.bytes, replaces: true }));
      const blobs = encoded.flatMap(([, one]) => one.blob ?? []);
      const decision = withQuota(state, growth, { events, reads, blobs });
      const name = write.checkpoint;
      if (name === undefined) return decision;
      const summary = { checkpoint: { name, at: Date.now() } };
      return { ...decision, events: [...decision.events, checkpointEvent({ name, auto: false }, author)], summary };
    };
    const stored = await writeChecked(
      ledger,
      { check, decide },
      {
        ...appendOpts,
        ...(write.since && { since: write.since }),
        once: write.once ?? false,
      },
    );
    return encoded.map(([key], i) => writtenAs(key, stored[i]!.seq));
  }

  const putOne = async (key: string, value: unknown, write: WriteOptions & ContextWrite): Promise<SharedInfo> =>
    (await put([[key, value]], write))[0]!;

  const isList = ({ config }: FoldState, key: string): boolean =>
    key === RESULTS || opts.lists.has(key) || (config.lists?.includes(key) ?? false);

  async function valueAt(state: FoldState, key: string, entry: SharedEntry | undefined): Promise<Json | undefined> {
    if (!entry) return undefined;
    const found = await readEntry(ledger, state, { key, entry, checker });
    for (const problem of found.problems) opts.onProblem?.(problem);
    return found.value;
  }

  async function mergeNow(key: string, fn: (v: Json | undefined) => unknown, write: WriteOptions): Promise<SharedInfo> {
    const since = monotonicMs();
    for (;;) {
      const state = await ledger.catchUp();
      const expect = versionOf(state, key);
      const next = await fn(await valueAt(state, key, presentAt(state, key, { now: Date.now() })));
      try {
        return await putOne(key, next, { ...write, expect, once: true, since });
      } catch (error) {
        if (!isHoldfastError(error, "conflict") || monotonicMs() - since > MERGE_GIVE_UP_MS) throw error;
      }
    }
  }

  const data: SharedData = {
    async share(key, value, write = {}) {
      const reduce = Object.hasOwn(reducers, key) ? reducers[key] : undefined;
      if (!reduce || write.expect !== undefined) return putOne(key, value, write);
      encodeValue(key, value); // refused before anything is read
      return data.merge(key, (before) => (before === undefined ? value : reduce(before, value as Json)), write);
    },
    shareAll: async (values, write = {}) => (Object.keys(values).length > 0 ? put(Object.entries(values), write) : []),
    async append(key, item, write = {}) {
      const { facts, blob } = encodeValue(named(key), item);
      if (write.ttlMs !== undefined) checkTtl(write.ttlMs);
      const check = (state: FoldState) => checker.item(state, key, item);
      const decide = (state: FoldState): ContextDecision => {
        authorize(state, writer, key, "append");
        const present = presentAt(state, key, { now: Date.now() });
        if (present && present.type !== "array")
          throw new HoldfastError("invalid", `${key} holds a ${present.type}, not a list: share an array there first`);
        const events = [appendedEvent(key, facts, { ...write, author: authorOf(write) })];
        // What the list began with is guarded, its items are not: two appends never meet, but for two agents that both begin it.
        const begins = writer.kind === "agent" && !state.keys.has(key);
        const reads = [`base:${key}`, "ctx:data", ...(begins ? entitiesOf(key) : [])];
        const growth = [{ key, bytes: facts.bytes, replaces: false }];
        return withQuota(state, growth, { events, reads, blobs: blob ? [blob] : [] });
      };
      const [stored] = await writeChecked(ledger, { check, decide }, appendOpts);
      return writtenAs(key, stored!.seq);
    },
    async remove(key, write = {}) {
      await ledger.decide((state) => {
        authorize(state, writer, key, "remove");
        checker.removal(state, key);
        if (!presentAt(state, key, { now: Date.now() }))
          throw new HoldfastError("not_found", `there is no shared data under ${key}`, {
            next: "list data",
            detail: { id: ledger.id },
          });
        // That it is there was read: so it is guarded, whether the caller expects a version or not.
        const reads = expected(state, key, write.expect ?? versionOf(state, key));
        const event = removedEvent(key, { ...write, author: authorOf(write) });
        return withQuota(state, [], { events: [event], reads });
      }, appendOpts);
    },
    merge(key, fn, write = {}) {
      const inside = mergingHere.getStore();
      const name = `${ledger.id} ${key}`;
      if (inside?.has(name)) {
        const why = `${key} is being merged by the caller of this merge: it would wait for itself; return the value instead`;
        return Promise.reject(new HoldfastError("invalid", why));
      }
      const now = () => mergingHere.run(new Set([...(inside ?? []), name]), () => mergeNow(key, fn, write));
      // Inside another merge it does not queue: two that each wait for the other's key would wait for ever.
      if (inside) return now();
      const before = merging.get(key) ?? Promise.resolve();
      const mine = before.then(now);
      const settled = mine.catch(() => undefined);
      merging.set(key, settled);
      settled.then(() => merging.get(key) === settled && merging.delete(key));
      return mine;
    },
    async read(key, path, { version } = {}) {
      const state = await ledger.catchUp();
      const then = version === undefined ? undefined : (entryOf(state, key, version) ?? entryAt(state, key, version));
      const entry =
        version === undefined ? presentAt(state, key, { now: Date.now() }) : then?.op === "remove" ? undefined : then;
      const value = await valueAt(state, key, entry);
      return value === undefined || path === undefined ? value : select(value, path);
    },
    async list() {
      const state = await ledger.catchUp();
      const now = Date.now();
      return [...state.keys.keys()].sort().flatMap((key) => {
        const entry = presentAt(state, key, { now });
        return entry ? [infoOf(key, entry, versionOf(state, key))] : [];
      });
    },
    async history(key) {
      const state = await ledger.catchUp();
      const current = new Set<Seq>();
      for (let at = entryAt(state, key); at; at = entryOf(state, key, at.prev)) current.add(at.seq);
      return (state.keys.get(key) ?? []).map(({ op, seq, at, author, call, type, bytes, preview, recovers }) => ({
        ...{ op, version: seq, at, author, type, bytes, preview, current: current.has(seq) },
        ...(call && { call }),
        ...(recovers && { recovers }),
      }));
    },
  };
  return data;
}

export function sharedEvent(
  key: string,
  facts: Encoded["facts"],
  write: { author: string; call?: string; ttlMs?: number; recovers?: Seq },
): EventInput {
  const { author, call, ttlMs, recovers } = write;
  const optional = { ...(call && { call }), ...(ttlMs !== undefined && { ttlMs }), ...(recovers && { recovers }) };
  const touches = [`key:${key}`, `base:${key}`];
  return { type: "data.shared", actor: author, touches, data: { key, ...facts, ...optional } };
}

export function appendedEvent(
  key: string,
  facts: Encoded["facts"],
  { author, call, ttlMs }: { author: string; call?: string; ttlMs?: number },
): EventInput {
  const data = { key, ...facts, ...(call && { call }), ...(ttlMs !== undefined && { ttlMs }) };
  return { type: "data.appended", actor: author, touches: [`key:${key}`], data };
}

export function removedEvent(key: string, write: { author: string; call?: string }): EventInput {
  const data = { key, ...(write.call && { call: write.call }) };
  return { type: "data.removed", actor: write.author, touches: [`key:${key}`, `base:${key}`], data };
}

function named(key: string): string {
  if (typeof key === "string" && key !== "" && key.length <= KEY_CHARS && !/[\0-\x1f]/.test(key)) return key;
  throw new HoldfastError(
    "invalid",
    `a key has 1 to ${KEY_CHARS} characters on one line, not ${JSON.stringify(key)?.slice(0, 40)}`,
  );
}

/** Contract: throws `conflict` when the key stands elsewhere; the guards make sure that it still stands there. */
function expected(state: FoldState, key: string, expect: Seq): string[] {
  const actual = versionOf(state, key);
  const absent = expect === 0 && !presentAt(state, key, { now: Date.now() });
  if (actual !== expect && !absent)
    throw new HoldfastError(
      "conflict",
      `${key} has version ${actual}, not ${expect}: read it again and decide anew (or use merge)`,
      { detail: { key, expected: expect, actual } },
    );
  return entitiesOf(key);
}

/** What is read of a key: its last event, and the restores of data. */
const entitiesOf = (key: string): string[] => [`key:${key}`, "ctx:data"];

/** Two writers that each stay under the limit may together pass it: with a limit on the whole, its entity is guarded. */
export function withQuota(
  state: FoldState,
  growth: { key: string; bytes: number; replaces: boolean }[],
  decision: ContextDecision,
): ContextDecision {
  const { valueBytes, contextBytes, keys } = state.config.quotas;
  const now = Date.now();
  const after = new Map<string, number>();
  for (const { key, bytes, replaces } of growth) {
    const size = (replaces ? 0 : (presentAt(state, key, { now })?.bytes ?? 0)) + bytes;
    if (valueBytes !== undefined && size > valueBytes)
      throw overQuota(`${key} would have ${size} bytes`, `${valueBytes} for a value`);
    after.set(key, size);
  }
  if (contextBytes === undefined && keys === undefined) return decision;
  for (const key of state.keys.keys()) {
    const present = after.has(key) ? undefined : presentAt(state, key, { now });
    if (present) after.set(key, present.bytes);
  }
  const total = [...after.values()].reduce((sum, bytes) => sum + bytes, 0);
  if (growth.length > 0 && contextBytes !== undefined && total > contextBytes)
    throw overQuota(`the shared data would have ${total} bytes`, `${contextBytes} for the context`);
  if (growth.length > 0 && keys !== undefined && after.size > keys)
    throw overQuota(`there would be ${after.size} keys`, `${keys}`);
  const [first, ...rest] = decision.events;
  if (!first) return decision;
  const touched = { ...first, touches: [...(first.touches ?? []), "ctx:quota"] };
  return { ...decision, events: [touched, ...rest], reads: [...(decision.reads ?? []), "ctx:quota"] };
}

function overQuota(what: string, limit: string): HoldfastError {
  return new HoldfastError("limit", `${what}, the quota is ${limit}; nothing was changed`, { next: "raise quota" });
}
