// What a host has to look at next: the ledgers that changed since its last look, or all of them.
import { setTimeout as sleep } from "node:timers/promises";
import type { Seq } from "../ledger/store.ts";

export interface BellLook {
  /** Everything, whether it has rung or not. */
  all: boolean;
  /** A ledger that concerns every context has changed. */
  shared: boolean;
  /** Contexts that have changed, each up to which event. */
  contexts: Map<string, Seq>;
}

export interface Bell {
  ring(what: Partial<BellLook>): void;
  /** Ends a wait without anything to look at: another time may come first now. */
  stir(): void;
  /** Everything that has rung since the last call. */
  take(): BellLook;
  readonly hasRung: boolean;
  /** Contract: resolves when something rings, on a stir, at that wall-clock time, or on abort. */
  wait(until: number, signal: AbortSignal): Promise<void>;
}

/** Timers know no longer time. */
const LONGEST_MS = 2 ** 31 - 1;

export function createBell(): Bell {
  let next = silent();
  let stir: () => void = () => undefined;
  const hasRung = () => next.all || next.shared || next.contexts.size > 0;
  return {
    ring({ all = false, shared = false, contexts = new Map() }) {
      next.all ||= all;
      next.shared ||= shared;
      for (const [context, seq] of contexts) next.contexts.set(context, Math.max(seq, next.contexts.get(context) ?? 0));
      stir();
    },
    stir: () => stir(),
    take() {
      const look = next;
      next = silent();
      return look;
    },
    get hasRung() {
      return hasRung();
    },
    async wait(until, signal) {
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const stirred = new Promise<void>((resolve) => {
        stir = resolve;
        either.addEventListener("abort", () => resolve(), { once: true });
      });
      const ms = until - Date.now();
      if (hasRung() || signal.aborted || ms <= 0) return over.abort();
      const timer = Number.isFinite(ms) ? sleep(Math.min(ms, LONGEST_MS), undefined, { signal: either }) : undefined;
      await (timer ? Promise.race([stirred, timer.catch(() => undefined)]) : stirred);
      over.abort();
    },
  };
}

const silent = (): BellLook => ({ all: false, shared: false, contexts: new Map() });
