// A store that is read in stretches: a ledger of any length is folded while other requests are answered.
import { setImmediate as nextTick } from "node:timers/promises";
import type { Store } from "../../ledger/store.ts";

/** So long it reads at a stretch. */
const STRETCH_MS = 12;

export function inStretches(store: Store): Store {
  return {
    ...store,
    async *read(ledger, opts) {
      let since = performance.now();
      for await (const event of store.read(ledger, opts)) {
        yield event;
        if (performance.now() - since < STRETCH_MS) continue;
        await nextTick();
        since = performance.now();
      }
    },
  };
}
