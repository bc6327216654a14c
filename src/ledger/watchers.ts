// Who watches a store: each is handed the last head of every ledger that advanced, as soon as it asks for the next one.
import type { Seq } from "./store.ts";

export interface Rung {
  ledger: string;
  seq: Seq;
}

export interface Watchers {
  tell(rung: Rung): void;
  /** Contract: registered when this returns, so that nothing after the call is missed. */
  subscribe(signal: AbortSignal): AsyncIterable<Rung>;
  close(): void;
}

interface Watcher {
  /** The last head of each ledger that has not been handed out yet: may coalesce, never misses the last one. */
  pending: Map<string, Seq>;
  wake: () => void;
}

/** `begin`: before the first one is there; `rest`: after the last one has gone. */
export function createWatchers({ begin, rest }: { begin: () => void; rest?: () => void }): Watchers {
  const watchers = new Set<Watcher>();
  let closed = false;
  return {
    tell({ ledger, seq }) {
      for (const one of watchers) {
        one.pending.set(ledger, seq);
        one.wake();
      }
    },
    subscribe(signal) {
      const one: Watcher = { pending: new Map(), wake: () => {} };
      const end = () => {
        signal.removeEventListener("abort", end);
        if (watchers.delete(one) && watchers.size === 0) rest?.();
        one.wake();
      };
      if (!signal.aborted && !closed) {
        if (watchers.size === 0) begin();
        watchers.add(one);
        signal.addEventListener("abort", end);
      }
      return handOut(one, { live: () => watchers.has(one), end });
    },
    close() {
      closed = true;
      const all = [...watchers];
      watchers.clear();
      if (all.length > 0) rest?.();
      for (const one of all) one.wake();
    },
  };
}

async function* handOut(
  one: Watcher,
  { live, end }: { live: () => boolean; end: () => void },
): AsyncGenerator<Rung, void> {
  try {
    while (live()) {
      for (const [ledger, seq] of one.pending) {
        one.pending.delete(ledger);
        yield { ledger, seq };
        if (!live()) return;
      }
      if (one.pending.size > 0) continue;
      await new Promise<void>((resolve) => {
        one.wake = resolve;
      });
    }
  } finally {
    end();
  }
}
