// An exact copy of one ledger in another store: its events with their ids and times, the blobs they name, its listing. Killed, it goes on where it was.
import { contentHashOf, NO_CONTENT, nextContentHash, type PortableEvent } from "./content-hash.ts";
import { crashPoint } from "./crash-point.ts";
import { HoldfastError } from "./error.ts";
import { isRecord } from "./guards.ts";
import { possibleReferences } from "./references.ts";
import { sameJson } from "./same-json.ts";
import type { Base, EventInput, LedgerSummary, Seq, Store, WakeInput } from "./store.ts";

const BATCH_EVENTS = 500;
const BATCH_BYTES = 4 << 20;

/** Where a copy comes from: another store, or a backup. */
export interface LedgerSource {
  listing: LedgerSummary;
  /** In order. Contract: every event behind `after` up to the head of the listing. */
  read(after: Seq): AsyncIterable<PortableEvent>;
  blob(hash: string): Promise<Uint8Array | undefined>;
}

export interface CopyOptions {
  /** Stands behind the copied events, in one append with the last of them. */
  end?: EventInput[];
  /** Over the summary of the source. */
  summary?: Record<string, unknown>;
  wake?: WakeInput[];
  progress?: (events: number) => void;
  signal?: AbortSignal;
}

export interface CopiedLedger {
  ledger: string;
  head: Seq;
  /** Content hash of what was copied. */
  sum: string;
  /** Events that were there already. */
  already: Seq;
  /** Blobs that events name and the source does not have are not among them. */
  blobs: number;
}

export const sourceOf = (store: Store, listing: LedgerSummary): LedgerSource => ({
  listing,
  read: (after) => store.read(listing.ledger, { after, upTo: listing.head }),
  blob: (hash) => store.blob(hash),
});

/** Contract: refuses a target with another past before anything is written to it. */
export async function copyLedger(source: LedgerSource, to: Store, opts: CopyOptions = {}): Promise<CopiedLedger> {
  const { listing } = source;
  const { ledger, head } = listing;
  const { end = [], progress = () => undefined, signal } = opts;
  const there = await to.head(ledger);
  const already = Math.min(there, head);
  const known = await contentHashOf(to, ledger, { upTo: already });
  let sum = NO_CONTENT;
  let seq = 0;
  let base: Base | undefined;
  let batch = emptyBatch();
  let blobs = 0;
  const done = new Set<string>();
  const flush = async (isLast: boolean) => {
    signal?.throwIfAborted();
    const events = isLast ? [...batch.events, ...end] : batch.events;
    const write = isLast
      ? { events, summary: summaryFor(listing, opts), listed: listing }
      : { events, ...(isRecord(listing.summary) && { summary: { importing: true } }) };
    const stored = await to.append([{ ledger, ...write, ...(base && { base }) }], {
      blobs: batch.blobs,
      ...(isLast && opts.wake && { wake: opts.wake }),
    });
    crashPoint("copy.batch");
    const last = stored.at(-1);
    if (last?.sum !== undefined) base = { seq: last.seq, sum: last.sum };
    batch = emptyBatch();
  };
  for await (const event of source.read(0)) {
    sum = nextContentHash(sum, event);
    seq = event.seq;
    if (seq === already && sum !== known.sum) throw anotherPast(to, ledger);
    if (seq <= already) continue;
    if (seq === already + 1 && already > 0) base = await baseAt(to, ledger, already);
    const { seq: _, ...input } = event;
    const json = JSON.stringify(event.data) ?? "null";
    for (const hash of possibleReferences(json)) {
      if (done.has(hash)) continue;
      done.add(hash);
      const blob = await source.blob(hash);
      if (!blob) continue;
      batch.blobs.push(blob);
      batch.bytes += blob.length;
      blobs++;
    }
    batch.events.push(inputOf(input));
    batch.bytes += json.length;
    progress(1);
    if (seq < head && (batch.events.length >= BATCH_EVENTS || batch.bytes >= BATCH_BYTES)) await flush(false);
  }
  if (seq !== head) throw new HoldfastError("conflict", `${ledger} was removed or cut while it was copied: try again`);
  if (there > head && !(await endsWith(to, { ledger, head, end }))) throw anotherPast(to, ledger);
  if (there < head || (there === head && end.length > 0) || head === 0) await flush(true);
  else await bringUpToDate(to, listing, opts);
  return { ledger, head, sum, already, blobs };
}

const emptyBatch = () => ({ events: [] as EventInput[], blobs: [] as Uint8Array[], bytes: 0 });

const inputOf = ({ id, type, v, actor, touches, data, at }: Omit<PortableEvent, "seq">): EventInput => ({
  ...{ id, type, v, actor, touches, data, at },
});

const anotherPast = (to: Store, ledger: string): HoldfastError =>
  new HoldfastError(
    "invalid",
    `${to.url} has another ${ledger} than the one that is copied: nothing of it was changed; choose another target, or remove it there`,
  );

async function baseAt(store: Store, ledger: string, seq: Seq): Promise<Base | undefined> {
  for await (const event of store.read(ledger, { after: seq - 1, upTo: seq }))
    if (event.sum !== undefined) return { seq, sum: event.sum };
  return undefined;
}

/** A copy that ended: nothing stands behind its events but what was put there with the last. */
async function endsWith(
  store: Store,
  { ledger, head, end }: { ledger: string; head: Seq; end: EventInput[] },
): Promise<boolean> {
  const types: string[] = [];
  for await (const event of store.read(ledger, { after: head })) types.push(event.type);
  return (
    end.length > 0 &&
    sameJson(
      types,
      end.map(({ type }) => type),
    )
  );
}

/** Only its listing, or who is due, may differ from what was copied before. */
async function bringUpToDate(to: Store, listing: LedgerSummary, opts: CopyOptions): Promise<void> {
  const { ledger } = listing;
  const wanted = summaryFor(listing, opts);
  for await (const entry of to.list({ prefix: ledger, limit: 1 })) {
    const isSame = entry.ledger === ledger && sameJson(entry.summary, wanted ?? null);
    if (isSame && !opts.wake?.length) return;
  }
  await to.append([{ ledger, events: [], summary: wanted, listed: listing }], opts.wake ? { wake: opts.wake } : {});
}

function summaryFor({ summary }: LedgerSummary, opts: CopyOptions): unknown {
  if (!isRecord(summary)) return opts.summary ?? summary ?? undefined;
  return { ...summary, importing: null, ...opts.summary };
}
