// What a project remembers, and what waits to be accepted: one ledger, shared by all its contexts, worktrees and processes.
import { HoldfastError } from "../../ledger/error.ts";
import type { Fact } from "../../ledger/events.ts";
import { createFold, type Slice, type State } from "../../ledger/fold.ts";
import { knownFact } from "../../ledger/guards.ts";
import { newId } from "../../ledger/id.ts";
import { openLedger } from "../../ledger/ledger.ts";
import { own } from "../../ledger/own.ts";
import type { EventInput, Seq, Store } from "../../ledger/store.ts";
import { nearestName } from "../../text/similarity.ts";
import { MEMORY_LEDGER, memoryCodec, memoryEvents } from "./events.ts";

type MemoryFact = Fact<typeof memoryEvents>;
type Kept = Extract<MemoryFact, { type: "memory.kept" }>["data"];

export interface Memory extends Kept {
  at: number;
}

export interface Proposal extends Memory {
  id: string;
  forgets?: boolean;
  replaces?: { name: string; at: number }[];
}

export type Provenance = Kept["from"];
export type NewMemory = Omit<Kept, "from">;

/** How far a context, or memory itself, was read for what is worth remembering. */
export interface MemoryReading {
  reader: string;
  after: Seq;
  to: Seq;
  ended: boolean;
}

interface MemoryState {
  memories: Record<string, Memory>;
  inbox: Record<string, Proposal>;
  /** By what is read. */
  readings: Record<string, MemoryReading>;
  /** The event that last changed what is remembered. */
  changed: Seq;
}

const slice: Slice<MemoryState> = {
  version: 2,
  initial: () => ({ memories: {}, inbox: {}, readings: {}, changed: 0 }),
  apply(state, event) {
    if (!(event.type in memoryEvents)) return state;
    const { type, data, at } = knownFact<typeof memoryEvents>(event);
    switch (type) {
      case "memory.kept":
        state.memories[data.name] = { ...data, at };
        state.changed = event.seq;
        break;
      case "memory.forgotten":
        delete state.memories[data.name];
        state.changed = event.seq;
        break;
      case "memory.proposed":
        state.inbox[data.id] = { ...data, at };
        break;
      case "memory.accepted":
      case "memory.rejected":
        delete state.inbox[data.id];
        break;
      case "memory.reading":
        state.readings[data.source] = { reader: data.reader, after: data.after, to: data.to, ended: false };
        break;
      case "memory.read": {
        const reading = own(state.readings, data.source);
        if (reading?.reader === data.reader) reading.ended = true;
        break;
      }
    }
    return state;
  },
};

const stateIn = (state: State): MemoryState => state.slices.memory as MemoryState;

export type Recorded = { kind: "kept"; at: number } | { kind: "forgotten" } | { kind: "proposed"; id: string };

export interface Memories {
  /** The oldest first. */
  list(): Promise<Memory[]>;
  inbox(): Promise<Proposal[]>;
  /** What was recorded under that `id`, if anything. */
  recorded(id: string): Promise<Recorded | undefined>;
  /** Contract: once for one `id`, however often it is tried. What it replaces goes in the same transaction. */
  keep(memory: NewMemory & { replaces?: string[] }, from: Provenance, id?: string): Promise<Memory>;
  forget(name: string, from: Provenance, id?: string): Promise<Memory>;
  propose(
    memory: NewMemory & { forgets?: boolean; replaces?: string[] },
    from: Provenance,
    id?: string,
  ): Promise<Proposal>;
  /** What it says becomes memory in the same transaction. Contract: `conflict` where something that it replaces has changed. */
  accept(id: string, from: Provenance): Promise<Proposal>;
  reject(id: string): Promise<Proposal>;
  readonly readings: Readings;
}

export interface Readings {
  of(source: string): Promise<MemoryReading | undefined>;
  /** The event that last changed what is remembered. */
  changed(): Promise<Seq>;
  /** Contract: one at a time for one source; the one that has not ended, where there is one. */
  begin(source: string, reading: Omit<MemoryReading, "ended">): Promise<MemoryReading>;
  end(source: string, reader: string): Promise<void>;
}

export async function openMemories(store: Store): Promise<Memories> {
  const ledger = await openLedger({
    store,
    name: MEMORY_LEDGER,
    codec: memoryCodec(),
    fold: createFold({ memory: slice }),
  });
  const state = () => stateIn(ledger.state);
  const decide = async (decide: (state: MemoryState) => Omit<EventInput, "actor">[], id?: string) => {
    const actor = "memory";
    const events = await ledger.decide(
      (at) => ({ events: decide(stateIn(at)).map((event) => ({ ...event, actor })) }),
      id === undefined ? {} : { id },
    );
    await ledger.saveSnapshot();
    return events.map((event) => knownFact<typeof memoryEvents>(event));
  };
  /** What was recorded, which for an `id` may have been before: what has happened since changes nothing about it. */
  const outcomeOf = ([first]: readonly MemoryFact[]): Recorded | undefined => {
    switch (first?.type) {
      case "memory.kept":
        return { kind: "kept", at: first.at };
      case "memory.forgotten":
        return { kind: "forgotten" };
      case "memory.proposed":
        return { kind: "proposed", id: first.data.id };
    }
    return undefined;
  };
  const named = (at: MemoryState, name: string): Memory => {
    const found = own(at.memories, name);
    if (found) return found;
    const near = nearestName(name, Object.keys(at.memories));
    throw new HoldfastError("not_found", `nothing is remembered as ${name}${near ? `: did you mean ${near}?` : ""}`);
  };
  const proposed = (at: MemoryState, id: string): Proposal => {
    const all = Object.values(at.inbox).filter((one) => one.id === id || one.id.endsWith(id) || one.name === id);
    const [found, other] = all;
    if (found && !other) return found;
    throw new HoldfastError(
      "not_found",
      `${all.length === 0 ? "no" : "more than one"} proposal is ${id}: see \`holdfast memory inbox\``,
    );
  };
  return {
    recorded: async (id) => outcomeOf(await decide(() => [], id)),
    async list() {
      await ledger.catchUp();
      return Object.values(state().memories).sort((a, b) => a.at - b.at);
    },
    async inbox() {
      await ledger.catchUp();
      return Object.values(state().inbox).sort((a, b) => a.at - b.at);
    },
    async keep({ replaces = [], ...memory }, from, id) {
      checkMemory(memory);
      const [kept] = await decide((at) => {
        const gone = replaces.filter((name) => name !== memory.name).map((name) => named(at, name));
        return [{ type: "memory.kept", data: { ...memory, from } }, ...gone.map(({ name }) => forgotten(name, from))];
      }, id);
      return { ...memory, from, at: kept!.at };
    },
    async forget(name, from, id) {
      let was: Memory | undefined;
      await decide((at) => {
        was = named(at, name);
        return [forgotten(name, from)];
      }, id);
      return was ?? { name, description: "", type: "user", text: "", from, at: 0 };
    },
    async propose({ replaces = [], ...memory }, from, id) {
      checkMemory(memory);
      const data = { id: newId("mem"), ...memory, from };
      const [recorded] = await decide((at) => {
        if (memory.forgets) named(at, memory.name);
        const gone = replaces.filter((name) => name !== memory.name).map((name) => named(at, name));
        const also = gone.length > 0 && { replaces: gone.map(({ name, at }) => ({ name, at })) };
        return [{ type: "memory.proposed", data: { ...data, ...also } }];
      }, id);
      return { ...data, ...(recorded?.type === "memory.proposed" && recorded.data), at: recorded!.at };
    },
    async accept(id, from) {
      let taken: Proposal | undefined;
      await decide((at) => {
        taken = proposed(at, id);
        const { name, description, type, text, from: origin, replaces = [] } = taken;
        const effect = taken.forgets
          ? forgotten(name, from)
          : { type: "memory.kept", data: { name, description, type, text, from: origin } };
        const gone = replaces.flatMap((one) => (isAsItWas(at, one) ? [forgotten(one.name, from)] : []));
        return [effect, ...gone, { type: "memory.accepted", data: { id: taken.id } }];
      });
      if (!taken) throw new HoldfastError("not_found", `no proposal is ${id}`);
      return taken;
    },
    async reject(id) {
      let taken: Proposal | undefined;
      await decide((at) => {
        taken = proposed(at, id);
        return [{ type: "memory.rejected", data: { id: taken.id } }];
      });
      if (!taken) throw new HoldfastError("not_found", `no proposal is ${id}`);
      return taken;
    },
    readings: {
      async of(source) {
        await ledger.catchUp();
        return own(state().readings, source);
      },
      async changed() {
        await ledger.catchUp();
        return state().changed;
      },
      async begin(source, { reader, after, to }) {
        await decide((at) => {
          const open = own(at.readings, source)?.ended === false;
          return open ? [] : [{ type: "memory.reading", data: { reader, source, after, to } }];
        });
        return own(state().readings, source)!;
      },
      async end(source, reader) {
        await decide((at) => {
          const reading = own(at.readings, source);
          return reading?.reader === reader && !reading.ended
            ? [{ type: "memory.read", data: { reader, source } }]
            : [];
        });
      },
    },
  };
}

const forgotten = (name: string, from: Provenance) => ({ type: "memory.forgotten", data: { name, from } });

/** False: it is gone already. */
function isAsItWas(state: MemoryState, { name, at }: { name: string; at: number }): boolean {
  const now = own(state.memories, name);
  if (now && now.at !== at)
    throw new HoldfastError(
      "conflict",
      `${name} has changed since this was proposed: reject it, or forget ${name} first`,
    );
  return now !== undefined;
}

const LONGEST_TEXT = 10_000;
const LONGEST_LINE = 300;

function checkMemory({ name, description, text }: NewMemory): void {
  const wrong =
    (/^[\p{L}\p{N}][\p{L}\p{N}_-]{0,63}$/u.test(name) ? undefined : "a name is letters, digits, - and _, at most 64") ??
    (/^memory$/i.test(name) ? "memory is the name of the list itself: choose another one" : undefined) ??
    (description.length <= LONGEST_LINE && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(description)
      ? undefined
      : `a description is one line of at most ${LONGEST_LINE} characters`) ??
    (text.trim() !== "" && text.length <= LONGEST_TEXT ? undefined : `a text has 1 to ${LONGEST_TEXT} characters`);
  if (wrong !== undefined) throw new HoldfastError("invalid", wrong);
}
