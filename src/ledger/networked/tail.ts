// Watching a store over a network: one waiting connection hears what is appended; after any break the heads are compared.
import { setTimeout as sleep } from "node:timers/promises";
import type { Seq } from "../store.ts";

export interface Rung {
  ledger: string;
  seq: Seq;
}

/** What a tail needs of a store. */
export interface BellSource {
  /**
   * What rang since the last call, after waiting for it for a while. Contract: begins where the store was opened, or later but before the
   * call that begins to watch; `gap` when something may have rung unheard.
   */
  next(): Promise<{ rung: Rung[]; gap: boolean }>;
  /** Where every ledger ends now. */
  heads(): AsyncIterable<Rung>;
}

export interface Tail {
  /** Contract: registered when this returns, so that nothing after the call is missed. */
  subscribe(signal: AbortSignal): AsyncIterable<Rung>;
  close(): void;
}

interface Listener {
  /** The last head of each ledger that has not been handed out yet: may coalesce, never misses the last one. */
  pending: Map<string, Seq>;
  wake: () => void;
}

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export function createTail(bell: BellSource): Tail {
  const listeners = new Set<Listener>();
  const known = new Map<string, Seq>();
  let running = false;
  let closed = false;

  function tell({ ledger, seq }: Rung): void {
    known.set(ledger, seq);
    for (const one of listeners) {
      one.pending.set(ledger, seq);
      one.wake();
    }
  }

  async function run(): Promise<void> {
    let missed = false;
    for (let pauseMs = FIRST_PAUSE_MS; !closed; ) {
      try {
        const { rung, gap } = await bell.next();
        for (const one of rung) tell(one);
        missed ||= gap;
        if (missed) for await (const head of bell.heads()) if (known.get(head.ledger) !== head.seq) tell(head);
        missed = false;
        pauseMs = FIRST_PAUSE_MS;
      } catch {
        // Whoever asks for something hears why; here it is enough to look at all of it once the server answers again.
        missed = true;
        await sleep(pauseMs, undefined, { ref: false });
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  return {
    subscribe(signal) {
      const one: Listener = { pending: new Map(), wake: () => {} };
      const end = () => {
        signal.removeEventListener("abort", end);
        listeners.delete(one);
        one.wake();
      };
      if (!signal.aborted && !closed) {
        listeners.add(one);
        signal.addEventListener("abort", end);
        if (!running) void run();
        running = true;
      }
      return handOut(one, { live: () => listeners.has(one), end });
    },
    close() {
      closed = true;
      const all = [...listeners];
      listeners.clear();
      for (const one of all) one.wake();
    },
  };
}

async function* handOut(
  one: Listener,
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
