// How long a model took for a round: from what the agent did last before it was asked, to the answer. Nothing else of it is recorded.
import type { StoredEvent } from "../../ledger/store.ts";

/** After these the model is asked next. What is recorded while it answers (a retry, what it spent) is not among them. */
const BEFORE = new Set([
  ...["turn.started", "input.taken", "note.added", "tool.finished", "request.changed"],
  ...["reply.received", "reply.aside"],
]);

export interface RoundTimes {
  /** Contract: told of every event in order. */
  observe(event: StoredEvent): void;
  /** Of an answer that was not observed yet. `askedAt`: when its calls were asked for, which is when the answer was there; it may be recorded later. */
  of(reply: StoredEvent, askedAt: number | undefined): { from: number; to: number };
}

export function createRoundTimes(): RoundTimes {
  const last = new Map<string, number>();
  return {
    observe({ type, actor, at }) {
      if (BEFORE.has(type)) last.set(actor, at);
    },
    of({ actor, at }, askedAt = at) {
      const to = Math.min(at, askedAt);
      return { from: Math.min(to, last.get(actor) ?? to), to };
    },
  };
}
