// Reading a ledger without its long texts: each event of the present version, what lies in blobs cut to its beginning.
import type { Codec } from "../../ledger/events.ts";
import { withoutLongTexts } from "../../ledger/spill.ts";
import type { Seq, Store, StoredEvent } from "../../ledger/store.ts";

interface Range {
  ledger: string;
  after: Seq;
  upTo?: Seq;
  types?: string[];
}

/** Contract: in order of seq; what this version cannot read is left out. */
export async function* readShortened(
  store: Pick<Store, "read">,
  codec: Codec,
  { ledger, ...range }: Range,
): AsyncGenerator<StoredEvent> {
  for await (const raw of store.read(ledger, range)) {
    const decoded = codec.decode({ ...raw, data: withoutLongTexts(raw.data) });
    if (decoded.ok) yield decoded.event;
  }
}
