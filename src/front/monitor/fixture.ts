// A context as a test, for the page: what `holdfast contexts export --as-test` writes, as far as it is not too large.
import { HoldfastError } from "../../ledger/error.ts";
import type { Store } from "../../ledger/store.ts";

/** Longer ones are for the command line: here they are made in memory, beside everything else. */
const MOST_EVENTS = 20_000;
const MOST_CHARS = 50_000_000;

/** The recording of a context as one text, without secrets. */
export type RecordingOf = (store: Store, context: string) => Promise<string>;

/** Contract: refused with `limit` where it is longer than a page should load. */
export async function boundedRecording(recordingOf: RecordingOf, store: Store, context: string): Promise<string> {
  const events = await store.head(context);
  const text = events > MOST_EVENTS ? undefined : await recordingOf(store, context);
  if (text !== undefined && text.length <= MOST_CHARS) return text;
  throw new HoldfastError(
    "limit",
    `${context} is too large for this page (${events} events): \`holdfast contexts export ${context} FILE --as-test\` writes it`,
  );
}
