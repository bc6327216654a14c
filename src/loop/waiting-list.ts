// Agents that have work and cannot be taken yet: who is looked at again, when, and whose turn it is where there was no room.
import type { FairSlots } from "./fair-slots.ts";

/** A process that dies tells nobody: an agent that another one holds is looked at again after this long. */
export const LOOK_AGAIN_MS = 250;
/** Of more agents than this each is looked at less often, so that they cost no more together. */
const LOOKED_AT_AGAIN = 16;

interface WaitingAgent {
  context: string;
  agent: string;
}

/** Without an agent: the context could not be read. */
export interface Waiting {
  context: string;
  agent?: string;
  /** When to look again; infinite: when there is room. */
  at: number;
}

export interface WaitingList {
  readonly size: number;
  /** When one is to be looked at; 0: a place is offered. */
  nextAt(): number;
  /** Default: soon. */
  add(whom: WaitingAgent | { context: string }, until?: number): void;
  /** There was no room: when it is the turn of its context, that is in `takeOffers`. */
  addForRoom(whom: WaitingAgent): void;
  remove(whom: WaitingAgent | { context: string }): void;
  /** Contract: those whose time has come, taken out one by one as they are asked for. */
  due(now: number): Iterable<Waiting>;
  /** Agents of that context that wait for room. */
  forRoom(context: string): WaitingAgent[];
  /** Contexts whose turn has come. Contract: for each a place is taken, and owed to the slots. */
  takeOffers(): string[];
  /** All of that context. */
  forget(context: string): void;
  close(): void;
}

const keyOf = (whom: { context: string; agent?: string }): string =>
  whom.agent === undefined ? whom.context : `${whom.context}/${whom.agent}`;

/** `stir`: a place is offered. */
export function createWaitingList(slots: FairSlots, stir: () => void): WaitingList {
  const waiting = new Map<string, Waiting>();
  const queued = new Map<string, () => void>();
  const offered: string[] = [];

  function add(whom: { context: string; agent?: string }, until?: number): void {
    const soon = Date.now() + LOOK_AGAIN_MS * Math.ceil((waiting.size + 1) / LOOKED_AT_AGAIN);
    waiting.set(keyOf(whom), { ...whom, at: until ?? soon });
  }

  return {
    get size() {
      return waiting.size;
    },
    nextAt: () => (offered.length > 0 ? 0 : Math.min(...[...waiting.values()].map((one) => one.at))),
    add,
    addForRoom(whom) {
      const { context } = whom;
      add(whom, Number.POSITIVE_INFINITY);
      if (queued.has(context)) return;
      const withdraw = slots.queue(context, () => {
        queued.delete(context);
        offered.push(context);
        stir();
      });
      queued.set(context, withdraw);
    },
    remove: (whom) => void waiting.delete(keyOf(whom)),
    *due(now) {
      for (const [key, one] of [...waiting])
        if (one.at <= now && waiting.get(key) === one) {
          waiting.delete(key);
          yield one;
        }
    },
    forRoom: (context) =>
      [...waiting.values()].flatMap(({ agent, at, context: of }) =>
        of === context && agent !== undefined && at === Number.POSITIVE_INFINITY ? [{ context, agent }] : [],
      ),
    takeOffers: () => offered.splice(0),
    forget(context) {
      for (const [key, one] of waiting) if (one.context === context) waiting.delete(key);
    },
    close() {
      for (const withdraw of queued.values()) withdraw();
      queued.clear();
      for (const _ of offered.splice(0)) slots.leave();
    },
  };
}
