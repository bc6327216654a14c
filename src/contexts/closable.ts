// Letting a context go: a handle that was closed holds nothing, and says so.
import { HoldfastError } from "../ledger/error.ts";
import type { ContextLedger } from "./context-ledger.ts";

export interface Closable {
  ledger: ContextLedger;
  close(): void;
}

/** The same ledger until it is closed; then every use of it is refused. */
export function closable(opened: ContextLedger): Closable {
  let inner: ContextLedger | undefined = opened;
  const { id, store } = opened;
  const open = (): ContextLedger => {
    if (inner) return inner;
    throw new HoldfastError("closed", `this handle of ${id} was closed: get the context again`);
  };
  return {
    ledger: {
      id,
      store,
      get state() {
        return open().state;
      },
      get readOnly() {
        return open().readOnly;
      },
      catchUp: async () => open().catchUp(),
      decide: async (decide, opts) => open().decide(decide, opts),
      expect: (entity, version) => open().expect(entity, version),
      recent: (seq) => open().recent(seq),
      saveSnapshot: async () => open().saveSnapshot(),
    },
    close() {
      inner = undefined;
    },
  };
}
