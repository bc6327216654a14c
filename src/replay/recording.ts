// A recording: the events of one context as this build reads them, and who recorded what after what.
import type { contextEvents } from "../contexts/events.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { Codec, Fact } from "../ledger/events.ts";
import { knownFact } from "../ledger/guards.ts";
import { unspill } from "../ledger/spill.ts";
import type { Seq, Store, StoredEvent } from "../ledger/store.ts";
import type { loopEvents } from "../loop/events.ts";

export type LoopFact = Fact<typeof loopEvents>;
export type FactOf<T extends LoopFact["type"]> = Extract<LoopFact, { type: T }>;

/** What the loop itself records of an agent by its own decision. */
const OF_LOOP: readonly string[] = [
  "turn.started",
  "input.taken",
  "input.blocked",
  "input.answered",
  "note.added",
  "request.changed",
  "reply.received",
  "reply.aside",
  "tool.started",
  "tool.finished",
  "turn.ended",
] satisfies LoopFact["type"][];

export const isFact = <T extends LoopFact["type"]>(event: StoredEvent | undefined, type: T): event is FactOf<T> =>
  event?.type === type;

/** Contract: in order of seq; `upcast` to what this build writes. */
export async function readRecording(
  store: Pick<Store, "read" | "blob">,
  codec: Codec,
  context: string,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const raw of store.read(context)) {
    const { data } = await unspill(raw.data, store.blob);
    const decoded = codec.decode({ ...raw, data });
    if (decoded.ok) events.push(decoded.event);
    else if (decoded.problem === "newer")
      throw new HoldfastError("upgrade", `${context} was written by a newer Holdfast: upgrade to replay it`);
  }
  if (events.length === 0) throw new HoldfastError("not_found", `there is no context ${context}`);
  return events;
}

export interface Recording {
  readonly events: readonly StoredEvent[];
  /** Whether the agent that recorded it decided it, so that it is computed anew. All else is taken as it is. */
  isDecided(at: number): boolean;
  /** The place of that agent's next decided event from `from` on; undefined: there is none. */
  next(agent: string, from: number): number | undefined;
  /** Its decided events from `from` on, in order. */
  following(agent: string, from: number): Generator<StoredEvent>;
  /** What was recorded right behind that event by the same agent and is no decision: what a note or a result brought with it. */
  bornAt(at: number): StoredEvent[];
  /** Where the event of that seq stands. */
  placeOf(seq: Seq): number;
}

/** `decides`: types that mechanisms record by their own decision. */
export function createRecording(events: readonly StoredEvent[], decides: ReadonlySet<string>): Recording {
  const agents = new Set<string>();
  const places = new Map<string, number[]>();
  const decided = events.map((event, at) => {
    const fact = knownFact<typeof contextEvents>(event);
    if (fact.type === "agent.created") agents.add(fact.data.name);
    const type = event.type;
    const is = agents.has(event.actor) && (OF_LOOP.includes(type) || decides.has(type)) && !isPersons(fact);
    if (is) {
      const own = places.get(event.actor) ?? [];
      places.set(event.actor, own);
      own.push(at);
    }
    return is;
  });
  const next = (agent: string, from: number): number | undefined => {
    const own = places.get(agent) ?? [];
    let [low, high] = [0, own.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((own[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return own[low];
  };
  const bySeq = new Map(events.map(({ seq }, at) => [seq, at]));
  return {
    events,
    isDecided: (at) => decided[at] ?? false,
    next,
    *following(agent, from) {
      for (let at = next(agent, from); at !== undefined; at = next(agent, at + 1)) {
        const event = events[at];
        if (event) yield event;
      }
    },
    bornAt(at) {
      const born: StoredEvent[] = [];
      const parent = events[at];
      for (let i = at + 1; parent && i < events.length; i++) {
        const event = events[i];
        if (!event || event.actor !== parent.actor || decided[i] || event.type === "input.received") break;
        born.push(event);
      }
      return born;
    },
    placeOf: (seq) => bySeq.get(seq) ?? -1,
  };
}

/** A checkpoint that was asked for is nobody's decision. */
const isPersons = (fact: Fact<typeof contextEvents>): boolean =>
  fact.type === "context.checkpointed" && fact.data.auto !== true;
