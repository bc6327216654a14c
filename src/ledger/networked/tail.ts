// Watching a store over a network: one waiting connection hears what is appended; after any break the heads are compared.
import { setTimeout as sleep } from "node:timers/promises";
import type { Seq } from "../store.ts";
import { createWatchers, type Rung, type Watchers } from "../watchers.ts";

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

export type Tail = Omit<Watchers, "tell">;

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export function createTail(bell: BellSource): Tail {
  const watchers = createWatchers({ begin });
  const known = new Map<string, Seq>();
  let running = false;
  let closed = false;

  function tell(rung: Rung): void {
    known.set(rung.ledger, rung.seq);
    watchers.tell(rung);
  }

  function begin(): void {
    if (!running) void run();
    running = true;
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
    subscribe: watchers.subscribe,
    close() {
      closed = true;
      watchers.close();
    },
  };
}
