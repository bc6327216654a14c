// Reading what is recorded without folding it: each event of the present version, its long strings in place.
import type { Codec } from "./events.ts";
import { unspill } from "./spill.ts";
import type { Seq, Store, StoredEvent } from "./store.ts";

export interface FactRange {
  after: Seq;
  upTo?: Seq;
  types: string[];
}

/** Contract: in order of seq, durable ones only; what this version cannot read is left out (whoever opens the ledger is told). */
export async function* readFacts(
  store: Pick<Store, "read" | "blob">,
  codec: Codec,
  ledger: string,
  range: FactRange,
): AsyncGenerator<StoredEvent> {
  for await (const raw of store.read(ledger, range)) {
    const { data } = await unspill(raw.data, store.blob);
    const decoded = codec.decode({ ...raw, data });
    if (decoded.ok) yield decoded.event;
  }
}
