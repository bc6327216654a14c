// What happens in one context, as it happens, for whoever has its page open; ended when the context is removed.
import type { Seq, Store } from "../../ledger/store.ts";
import type { ContextLiveMessage } from "./context-api.ts";
import type { ContextSource } from "./context-source.ts";

/** A removal rings no bell: it is looked for so often. */
const LOOK_MS = 1_000;

/** `since`: the last event that was heard of; not a number: only what comes. Contract: ends when there is no such context any more. */
export async function* followContext(
  store: Store,
  source: ContextSource,
  { since, signal }: { since: number; signal: AbortSignal },
): AsyncGenerator<{ id: string; data: ContextLiveMessage }, void> {
  const gone = new AbortController();
  // Registered before the first look: nothing is missed in between.
  const rings = store.watchAll(AbortSignal.any([signal, gone.signal]));
  let seq: Seq = Number.isSafeInteger(since) && since >= 0 ? since : await store.head(source.id);
  const news = async function* () {
    const { rows, head } = await source.rowsAfter(seq);
    if (head <= seq) return;
    seq = head;
    yield { id: String(head), data: { rows, head } };
  };
  const look = () =>
    store.head(source.id).then(
      (head) => head === 0 && gone.abort(),
      () => undefined, // it cannot be told now
    );
  const looking = setInterval(look, LOOK_MS).unref();
  try {
    yield* news();
    for await (const { ledger } of rings) if (ledger === source.id) yield* news();
  } finally {
    clearInterval(looking);
  }
}
