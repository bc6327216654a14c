// A store as somebody outside would write one: in memory, from what the package exports and nothing else.
import { createHash, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type AppendOptions,
  blobHash,
  type Collected,
  createLeases,
  type EventInput,
  HoldfastError,
  type LeaseRow,
  type LedgerSummary,
  possibleReferences,
  type Seq,
  type Store,
  type StoredEvent,
  type Wake,
  type Write,
} from "../../src/index.ts";

interface Entry extends Omit<LedgerSummary, "ledger"> {
  events: StoredEvent[];
  versions: Map<string, Seq>;
  /** Blobs that its events name. */
  named: Set<string>;
  snapshots: Map<string, { seq: Seq; state: unknown }>;
  /** Makes the sums of a ledger that was begun again others. */
  origin: string;
}

/** What several stores share, as processes share a server. */
export interface Memory {
  ledgers: Map<string, Entry>;
  blobs: Map<string, Uint8Array>;
  wakes: Map<string, Wake>;
  leases: Map<string, LeaseRow>;
  watchers: Set<(ledger: string, seq: Seq) => void>;
}

export const createMemory = (): Memory => ({
  ledgers: new Map(),
  blobs: new Map(),
  wakes: new Map(),
  leases: new Map(),
  watchers: new Set(),
});

const plain = (data: unknown) => JSON.parse(JSON.stringify(data ?? null));
const copy = <T>(value: T): T => structuredClone(value);
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fail = (...args: ConstructorParameters<typeof HoldfastError>): never => {
  throw new HoldfastError(...args);
};

export function openMemoryStore(memory: Memory, opts: { interactive?: boolean; leaseMs?: number } = {}): Store {
  const { ledgers, blobs, wakes } = memory;
  const over = new AbortController();

  const sumOf = (entry: Entry, { sum: _, ...event }: StoredEvent): string =>
    createHash("sha256")
      .update(JSON.stringify([entry.events.at(-1)?.sum ?? entry.origin, event]))
      .digest("hex");

  const fresh = (at: number): Entry => ({
    ...{ head: 0, createdAt: at, updatedAt: at, summary: null, origin: randomUUID() },
    ...{ events: [], versions: new Map(), named: new Set(), snapshots: new Map() },
  });

  /** Listings are in this order: behind all others, also within a millisecond or when the clock was set back. */
  const nextUpdate = (at: number): number =>
    [...ledgers.values()].reduce((latest, { updatedAt }) => Math.max(latest, updatedAt + 1), at);

  /** The stored events when every id is known; undefined when none is. */
  function recorded(writes: Write[]): StoredEvent[] | undefined {
    const ids = writes.flatMap(({ ledger, events }) => events.map(({ id }) => id && `${ledger}\n${id}`));
    const given = ids.filter((id) => id !== undefined);
    if (new Set(given).size < given.length) fail("id_reused", "an id stands twice in one append");
    const known = writes.flatMap(({ ledger, events }) =>
      events.map((event) => [event, ledgers.get(ledger)?.events.find((one) => one.id === event.id)] as const),
    );
    const old = known.flatMap(([event, one]) => (one ? [{ event, one }] : []));
    if (old.some(({ event, one }) => !isDeepStrictEqual(plain(event.data), one.data)))
      fail("id_reused", "the id is recorded with other data");
    if (old.length > 0 && old.length < known.length) fail("id_reused", "a batch is wholly new or wholly old");
    return old.length > 0 ? old.map(({ one }) => copy(one)) : undefined;
  }

  function checkGuards(writes: Write[], { lease, wake = [] }: AppendOptions): void {
    for (const { ledger, base, expect = {} } of writes) {
      const entry = ledgers.get(ledger);
      if (base && entry?.events[base.seq - 1]?.sum !== base.sum) fail("rolled_back", "another past: open it anew");
      for (const [entity, expected] of Object.entries(expect)) {
        const actual = entry?.versions.get(entity) ?? 0;
        if (actual !== expected) fail("conflict", `${entity} changed`, { detail: { entity, expected, actual } });
      }
    }
    const held = lease && memory.leases.get(lease.name);
    if (lease && !(held?.holder && held.term === lease.term && held.token === lease.token))
      fail("fenced", "another host took over; stop");
    for (const { context, agent, by, dueAt } of wake)
      if (context === "" || agent === "" || by === "" || (dueAt !== null && !Number.isSafeInteger(dueAt)))
        fail("invalid", "a wake names a context, an agent and a mechanism");
  }

  function put(entry: Entry, { events, summary, listed }: Write, at: number): StoredEvent[] {
    const stored = events.map((event: EventInput) => {
      const { id = randomUUID(), type, actor, v = 1, touches = [], at: given = at } = event;
      const data = plain(event.data);
      const one: StoredEvent = { seq: entry.events.length + 1, id, at: given, type, v, actor, touches, data };
      one.sum = sumOf(entry, one);
      entry.events.push(one);
      for (const entity of touches) entry.versions.set(entity, one.seq);
      for (const hash of possibleReferences(JSON.stringify(data))) if (blobs.has(hash)) entry.named.add(hash);
      return one;
    });
    if (summary !== undefined)
      entry.summary = isObject(entry.summary) && isObject(summary) ? { ...entry.summary, ...summary } : copy(summary);
    entry.head = entry.events.length;
    entry.updatedAt = summary === undefined ? Math.max(entry.updatedAt, at) : nextUpdate(at);
    if (listed) Object.assign(entry, { createdAt: listed.createdAt, updatedAt: listed.updatedAt });
    return copy(stored);
  }

  function dropWakes(contexts: ReadonlySet<string>): void {
    for (const [key, { context }] of wakes) if (contexts.has(context)) wakes.delete(key);
  }

  const leases = createLeases(
    {
      read: async (name) => copy(memory.leases.get(name)),
      async change(name, decide) {
        const next = decide(copy(memory.leases.get(name)));
        if (next) memory.leases.set(name, next);
        return next !== undefined;
      },
    },
    { interactive: opts.interactive ?? false, leaseMs: opts.leaseMs ?? 15_000 },
  );

  const store: Store = {
    url: "memory:",
    identity: "memory:",
    durability: { class: "failover-may-lose", says: "it is kept in memory, and gone with the process" },
    reach: "machine",
    async append(writes, appendOpts = {}) {
      const old = recorded(writes);
      if (old) return old;
      checkGuards(writes, appendOpts);
      for (const bytes of appendOpts.blobs ?? []) blobs.set(blobHash(bytes), Uint8Array.from(bytes));
      for (const { dueAt, ...whom } of appendOpts.wake ?? []) {
        const key = JSON.stringify([whom.context, whom.agent, whom.by]);
        if (dueAt === null) wakes.delete(key);
        else wakes.set(key, { ...whom, dueAt });
      }
      const changed = writes.filter((one) => one.events.length > 0 || one.summary !== undefined);
      const stored = changed.flatMap((write) => {
        const entry = ledgers.get(write.ledger) ?? fresh(Date.now());
        ledgers.set(write.ledger, entry);
        return put(entry, write, Date.now());
      });
      for (const { ledger } of changed) for (const tell of memory.watchers) tell(ledger, ledgers.get(ledger)!.head);
      return stored;
    },
    async *read(ledger, { after = 0, upTo = Number.POSITIVE_INFINITY, actor, types } = {}) {
      for (const event of [...(ledgers.get(ledger)?.events.slice(after) ?? [])]) {
        if (event.seq > upTo) return;
        if ((actor ?? event.actor) === event.actor && (types?.includes(event.type) ?? true)) yield copy(event);
      }
    },
    head: async (ledger) => ledgers.get(ledger)?.head ?? 0,
    version: async (ledger, entity) => ledgers.get(ledger)?.versions.get(entity) ?? 0,
    async *list({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      const names = [...ledgers.keys()].filter((name) => name.startsWith(prefix) && byBytes(name, after) > 0);
      for (const ledger of names.sort(byBytes).slice(0, limit)) {
        const { head, createdAt, updatedAt, summary } = ledgers.get(ledger)!;
        yield { ledger, head, createdAt, updatedAt, summary: copy(summary) };
      }
    },
    async remove(ledger) {
      ledgers.delete(ledger);
      dropWakes(new Set([ledger]));
    },
    async collect({ remove = [], blobs: sweeps = true, dryRun = false } = {}) {
      const going = new Set<string>();
      const held: Collected["held"] = [];
      for (const { ledger, head, leases: prefix } of remove) {
        if (ledgers.get(ledger)?.head !== head) continue;
        const own =
          prefix === undefined ? [] : [...memory.leases.values()].filter((row) => row.name.startsWith(prefix));
        const [by] = own.flatMap((row) => leases.heldBy(row) ?? []);
        if (by) held.push({ ledger, by });
        else going.add(ledger);
        if (!by && !dryRun) for (const { name } of own) memory.leases.delete(name);
      }
      const left = new Set([...ledgers].flatMap(([name, { named }]) => (going.has(name) ? [] : [...named])));
      const loose = sweeps ? [...blobs].filter(([hash]) => !left.has(hash)) : [];
      const removed: Collected["ledgers"] = [...going].map((ledger) => {
        const { events } = ledgers.get(ledger)!;
        return { ledger, events: events.length, bytes: JSON.stringify(events).length };
      });
      if (!dryRun) for (const ledger of going) ledgers.delete(ledger);
      if (!dryRun) dropWakes(going);
      if (!dryRun) for (const [hash] of loose) blobs.delete(hash);
      return {
        ledgers: removed,
        held,
        blobs: loose.length,
        bytes: loose.reduce((sum, [, one]) => sum + one.length, 0),
      };
    },
    blob: async (hash) => blobs.get(hash),
    find: async (ledger, id) => copy(ledgers.get(ledger)?.events.find((event) => event.id === id)),
    snapshots: (ledger) => ({
      async load(keys) {
        const kept = [...(ledgers.get(ledger)?.snapshots ?? [])].filter(([key]) => keys.includes(key));
        return new Map(kept.map(([key, one]) => [key, copy(one)]));
      },
      async save(seq, states, sum) {
        if (sum !== undefined && ledgers.get(ledger)?.events[seq - 1]?.sum !== sum) return;
        for (const [key, state] of states) ledgers.get(ledger)?.snapshots.set(key, copy({ seq, state }));
      },
    }),
    watchAll(signal) {
      const pending = new Map<string, Seq>();
      let wake: () => void = () => undefined;
      const tell = (ledger: string, seq: Seq) => {
        pending.set(ledger, seq);
        wake();
      };
      const ended = AbortSignal.any([signal, over.signal]);
      memory.watchers.add(tell); // now, so that nothing after the call is missed
      ended.addEventListener("abort", () => wake());
      return (async function* () {
        while (!ended.aborted) {
          for (const [ledger, seq] of pending) {
            pending.delete(ledger);
            yield { ledger, seq };
          }
          if (pending.size === 0 && !ended.aborted) await new Promise<void>((resolve) => (wake = resolve));
        }
        memory.watchers.delete(tell);
      })();
    },
    due: async (now) => copy([...wakes.values()].filter((one) => one.dueAt <= now).sort((a, b) => a.dueAt - b.dueAt)),
    leases,
    async verify({ ledger, progress } = {}) {
      const all = [...ledgers].filter(([name]) => (ledger ?? name) === name).map(([, entry]) => entry.events.length);
      const events = all.reduce((sum, one) => sum + one, 0);
      progress?.(events, events);
      return { ledgers: all.length, events, blobs: blobs.size, damage: [] };
    },
    close: async () => over.abort(),
  };
  return store;
}
