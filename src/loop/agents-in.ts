// The question who works in a tree: agents of any context, as far as the store tells.
import { contextEntries } from "../contexts/listing.ts";
import { isRecord } from "../ledger/guards.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Store } from "../ledger/store.ts";
import { contextState } from "./agent.ts";

/**
 * `CONTEXT/AGENT` of those whose tree it is and who have a turn to go on with, an input to take, or a host. One that is done and let go
 * does not count: it is told where it is when it is spoken to again.
 */
export async function agentsIn(
  store: Store,
  open: (context: string) => Promise<Ledger>,
  tree: string,
): Promise<string[]> {
  const found: string[] = [];
  for await (const { ledger } of contextEntries(store)) {
    if (!(await everMoved(store, ledger, tree))) continue;
    const { agents } = contextState(await open(ledger));
    for (const { name, root, turn, queue } of Object.values(agents)) {
      if (root !== tree) continue;
      const key = `${ledger}/${name}`;
      if (turn || queue.length > 0 || (await store.leases.inspect(`agent:${key}`))?.alive) found.push(key);
    }
  }
  return found;
}

async function everMoved(store: Store, context: string, tree: string): Promise<boolean> {
  for await (const { data } of store.read(context, { types: ["agent.moved"] }))
    if (isRecord(data) && data.root === tree) return true;
  return false;
}
