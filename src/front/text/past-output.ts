// `contexts show`: what happened in a context, as it stands now: what a restore went back behind is left out.
import type { Codec } from "../../ledger/events.ts";
import type { State } from "../../ledger/fold.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { unspill } from "../../ledger/spill.ts";
import type { Seq, Store, StoredEvent } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import { createLineRenderer } from "../presentation/lines.ts";
import { createPresenter } from "../presentation/presenter.ts";
import { styleFor } from "../presentation/style.ts";

/** As far as a ledger was read. */
type ReadUpTo = Pick<Ledger, "name"> & { readonly state: Pick<State, "seq"> };

export async function* pastOf(store: Store, ledger: ReadUpTo, codec: Codec): AsyncGenerator<string> {
  const presenter = createPresenter();
  const style = styleFor(process.stdout, process.env);
  const lines = createLineRenderer({ style, lead: LEAD, past: true });
  for await (const event of pastEvents(store, ledger, codec))
    for (const block of presenter.fact(event)) yield* lines.render(block);
}

/** The events of the timeline that counts, whole. */
export async function* pastEvents(store: Store, ledger: ReadUpTo, codec: Codec): AsyncGenerator<StoredEvent> {
  for (const raw of await standing(store, ledger)) {
    const { data } = await unspill(raw.data, store.blob);
    const decoded = codec.decode({ ...raw, data });
    if (decoded.ok) yield decoded.event; // what is not is said as a problem of the ledger
  }
}

interface Step {
  event: StoredEvent;
  before: Step | undefined;
}

/** Where the conversation went on from, if it went back too. */
function wentBackTo(data: unknown): Seq | undefined {
  const { seq, conversation }: { seq?: unknown; conversation?: unknown } = data ?? {};
  return conversation === true && typeof seq === "number" ? seq : undefined;
}

/** The events of the timeline that counts. A restore goes on from its checkpoint; one that is undone goes on from where it was. */
async function standing(store: Store, ledger: ReadUpTo): Promise<StoredEvent[]> {
  const steps = new Map<Seq, Step>();
  let last: Step | undefined;
  for await (const event of store.read(ledger.name, { upTo: ledger.state.seq })) {
    const back = event.type === "context.restored" ? wentBackTo(event.data) : undefined;
    last = { event, before: back === undefined ? last : steps.get(back) };
    steps.set(event.seq, last);
  }
  const events: StoredEvent[] = [];
  for (let step = last; step; step = step.before) events.push(step.event);
  return events.reverse();
}
