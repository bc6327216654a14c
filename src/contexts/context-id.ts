// Which ledgers are contexts: by their names. A store that others write to may hold any name, and a context's becomes part of paths.
import type { LedgerSummary, Store } from "../ledger/store.ts";

/** What the ids of contexts begin with. */
const BEGINNING = "ctx_";
const CONTEXT_ID = /^ctx_[0-9A-Za-z_-]{1,100}$/;

/** Contract: what is none is neither listed, hosted, gone on with nor removed as one. */
export const isContextId = (ledger: string): boolean => CONTEXT_ID.test(ledger);

/** The contexts among a store's ledgers. */
export async function* contextEntries(store: Store): AsyncGenerator<LedgerSummary> {
  for await (const entry of store.list({ prefix: BEGINNING })) if (isContextId(entry.ledger)) yield entry;
}
