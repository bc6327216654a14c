// A store that may fall silent behind a terminal: since when it has, and leaving without waiting for it.
import { setTimeout as sleep } from "node:timers/promises";
import { agentLease } from "../../contexts/listing.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import { sameProcess, thisHolder } from "../../ledger/holder.ts";
import type { Store } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";

/** An answer that takes so long is missed. */
const MISSED_MS = 1_500;
const LOOK_MS = 500;
/** So long is waited for the end of what is open, where the store has fallen silent. */
const LEAVE_MS = 300;

export interface StoreWatch {
  /** Undefined: it answers, or has not been waited for long enough to say so. */
  silentSince(): number | undefined;
  /** Contract: false when the store fell silent, or `withinMs` passed, before that was over. */
  outlasts(work: Promise<unknown>, withinMs?: number): Promise<boolean>;
  stop(): void;
}

/** `changed`: told when it falls silent and when it answers again; looked at only where a server is asked. */
export function watchStore(store: Store, changed: (since: number | undefined) => void): StoreWatch {
  let isSilent = false;

  function silentSince(): number | undefined {
    const since = store.silentSince?.();
    return since !== undefined && Date.now() - since >= MISSED_MS ? since : undefined;
  }

  const look = () => {
    const since = silentSince();
    if ((since !== undefined) === isSilent) return;
    isSilent = since !== undefined;
    changed(since);
  };
  const looking = store.silentSince ? setInterval(look, LOOK_MS).unref() : undefined;
  return {
    silentSince,
    async outlasts(work, withinMs = Number.POSITIVE_INFINITY) {
      const begun = Date.now();
      const over = work.then(
        () => true,
        () => true,
      );
      for (;;) {
        if (await Promise.race([over, sleep(LEAVE_MS, false)])) return true;
        if (silentSince() !== undefined || Date.now() - begun >= withinMs) return false;
      }
    },
    stop: () => clearInterval(looking),
  };
}

/** What became of a context whose lease ran out while the store was silent. `over`: the signal came first. */
type Regained = "free" | "another's" | "over";

/** Contract: waits for the store, and until our own lease has run out for everybody. */
export async function untilFree(store: Store, context: string, signal: AbortSignal): Promise<Regained> {
  while (!signal.aborted) {
    try {
      const by = await store.leases.inspect(agentLease(context, LEAD));
      if (!by) return "free";
      if (!sameProcess(by.holder, thisHolder(false))) return "another's";
    } catch (error) {
      if (!isHoldfastError(error, "unreachable")) throw error;
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return "over";
}
