// Writing under a check that is somebody else's code (a schema): it runs before the ledger's turn, and again when the rules changed.
import { HoldfastError } from "../ledger/error.ts";
import type { StoredEvent } from "../ledger/store.ts";
import type { ContextDecision, ContextLedger, ContextWrite } from "./context-ledger.ts";
import type { FoldState } from "./fold.ts";

interface Checked {
  /** Contract: depends on the configuration of the context only; throws when it does not hold. */
  check(state: FoldState): Promise<void>;
  decide(state: FoldState): ContextDecision;
}

/** A check inside the ledger's turn that reads its own context would wait for that turn for ever. */
export async function writeChecked(
  ledger: ContextLedger,
  { check, decide }: Checked,
  opts: ContextWrite,
): Promise<StoredEvent[]> {
  for (;;) {
    const version = ledger.state.versions.config;
    try {
      await check(ledger.state);
    } catch (error) {
      const newest = await ledger.catchUp(); // what an old state says does not count
      if (newest.versions.config === version) throw error;
      continue;
    }
    let stale = false;
    try {
      return await ledger.decide((state) => {
        stale = state.versions.config !== version;
        if (stale) throw new HoldfastError("conflict", "the rules of this context changed meanwhile: try again");
        return decide(state);
      }, opts);
    } catch (error) {
      if (!stale) throw error;
    }
  }
}
