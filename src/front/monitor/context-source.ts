// One context as the page looks at it: rows by position, detail, timeline, usage, data, checkpoints. Read from its ledger alone.
import type { Context } from "../../contexts/context.ts";
import { openContexts } from "../../contexts/open.ts";
import { type Jump, visibleRanges } from "../../contexts/visible-ranges.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import { unspill, withoutLongTexts } from "../../ledger/spill.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import type { BoardPast } from "../past/board.ts";
import { type ContextPast, createContextPast } from "../past/context-past.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { DataHistory, DataRow, EventDetail, EventRow, RowKind, RowsWindow, TextSection } from "./context-api.ts";
import { eventDetail, section } from "./event-detail.ts";
import { createEventIndex, type EventIndex } from "./event-index.ts";
import { eventRow } from "./event-rows.ts";
import type { MonitoredProject } from "./monitored-project.ts";
import { createRequestReader, type RequestReader } from "./requests.ts";
import { gatherSpans, type SpanGatherer } from "./spans.ts";
import { inStretches } from "./stretches.ts";
import { gatherUsage, type UsageGatherer } from "./usage.ts";

/** Rows of one answer. */
const MOST_ROWS = 300;
/** Rows farther apart than this are read one by one. */
const APART = 6;
const MOST_VERSIONS = 500;
/** Of shared data: those that changed last. */
const MOST_KEYS = 1_000;

interface RowsAsked {
  from: number;
  count: number;
  kinds?: readonly RowKind[];
  agent?: string;
  text?: string;
  /** As of that event: what came later is not there, and what was left later is. */
  upTo?: Seq;
}

export interface ContextSource {
  readonly id: string;
  readonly index: EventIndex;
  readonly spans: SpanGatherer;
  readonly usage: UsageGatherer;
  readonly requests: RequestReader;
  rows(asked: RowsAsked, signal: AbortSignal): Promise<RowsWindow>;
  /** Everything behind that event up to `head`, in order; at most the last ones. */
  rowsAfter(seq: Seq): Promise<{ rows: EventRow[]; head: Seq }>;
  detail(seq: Seq): Promise<EventDetail | undefined>;
  data(): Promise<DataRow[]>;
  dataHistory(key: string, seq: Seq | undefined): Promise<DataHistory | undefined>;
  /** Where the conversation went back; as far as is read. */
  readonly jumps: readonly Jump[];
  /** As of any event; as far as is read. */
  readonly past: ContextPast;
  /** Where data and checkpoints are read, and a person's fork or restore is done. */
  context(): Promise<Context>;
}

export interface ContextSourceOptions {
  project: MonitoredProject;
  id: string;
  promptCache: Parameters<typeof gatherUsage>[0];
  /** Of the project. */
  board: BoardPast;
}

export function createContextSource({ project, id, promptCache, board }: ContextSourceOptions): ContextSource {
  const { readers } = project;
  const store = inStretches(project.store);
  const spans = gatherSpans();
  const usage = gatherUsage(promptCache);
  const requests = createRequestReader(project, id);
  const past = createContextPast({ store, id, codec: readers.codec, fold: readers.past, board });
  const jumps: Jump[] = [];
  const noteJump = ({ type, seq, data }: StoredEvent) => {
    const { conversation, seq: to } = data as { conversation?: boolean; seq?: Seq };
    if (type === "context.restored" && conversation && to !== undefined) jumps.push({ seq, to });
  };
  const index = createEventIndex({
    ...{ store, name: id, codec: readers.codec },
    observers: [spans.observe, usage.observe, past.observe, noteJump],
  });
  let opened: Promise<Context> | undefined;
  const found = new Map<string, { upTo: Seq; seqs: Seq[] }>();
  let searching: Promise<unknown> = Promise.resolve();

  function context(): Promise<Context> {
    opened ??= (async () => {
      const contexts = await openContexts({ store });
      const plain = await contexts.get(id, { author: "user" });
      const { root } = await plain.details();
      return contexts.get(id, { author: "user", files: project.files(root) });
    })().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  async function readRaw(seqs: readonly Seq[]): Promise<StoredEvent[]> {
    const [first] = seqs;
    const last = seqs.at(-1);
    if (first === undefined || last === undefined) return [];
    const wanted = new Set(seqs);
    const events: StoredEvent[] = [];
    const read = async (after: Seq, upTo: Seq) => {
      for await (const raw of store.read(id, { after, upTo })) {
        if (!wanted.has(raw.seq)) continue;
        const decoded = readers.codec.decode({ ...raw, data: withoutLongTexts(raw.data) });
        events.push(decoded.ok ? decoded.event : raw);
      }
    };
    if (last - first <= APART * seqs.length + 50) await read(first - 1, last);
    else for (const seq of seqs) await read(seq - 1, seq);
    return events;
  }

  const shownRows = (events: readonly StoredEvent[], upTo?: Seq): EventRow[] => {
    const ranges = visibleRanges(jumps, upTo ?? Math.max(index.head, events.at(-1)?.seq ?? 0));
    const isLeft = (seq: Seq) => jumps.length > 0 && !ranges.some(([from, to]) => from <= seq && seq <= to);
    return events.map((event) => ({ ...eventRow(event), ...(isLeft(event.seq) && { left: true }) }));
  };

  /** One search at a time: two of the same would find everything twice, and a search reads all there is. */
  function withText(seqs: readonly Seq[], asked: RowsAsked, signal: AbortSignal): Promise<Seq[]> {
    const searched = searching.then(() => search(seqs, asked, signal));
    searching = searched.catch(() => undefined);
    return searched;
  }

  /** Looks through everything of that filter: kept, and gone on with where more came. */
  async function search(
    seqs: readonly Seq[],
    { kinds, agent, text = "" }: RowsAsked,
    signal: AbortSignal,
  ): Promise<Seq[]> {
    const key = JSON.stringify([kinds?.toSorted(), agent, text]);
    if (signal.aborted) return [];
    const known = found.get(key) ?? { upTo: 0, seqs: [] };
    const wanted = new Set(seqs);
    const needle = text.toLowerCase();
    const head = index.head;
    for await (const raw of store.read(id, { after: known.upTo, upTo: head })) {
      if (signal.aborted) return known.seqs;
      known.upTo = raw.seq;
      if (wanted.has(raw.seq) && JSON.stringify(raw.data).toLowerCase().includes(needle)) known.seqs.push(raw.seq);
    }
    found.delete(key);
    found.set(key, known);
    for (const oldest of found.keys()) {
      if (found.size <= 8) break;
      found.delete(oldest);
    }
    return known.seqs;
  }

  return {
    ...{ id, index, spans, usage, requests, past, context, jumps },
    async rows(asked, signal) {
      const { from, kinds, agent, text, upTo } = asked;
      const count = Math.min(MOST_ROWS, asked.count);
      const isPlain = kinds === undefined && agent === undefined && !text;
      // Every event is a row then, and its position its seq: nothing has to be known of the others, but where they went back.
      const isOfNow = isPlain && upTo === undefined;
      if (!isOfNow) await index.advance();
      const head = isOfNow ? await store.head(id) : index.head;
      const all = isPlain
        ? undefined
        : index.positions({ ...(kinds && { kinds }), ...(agent !== undefined && { agent }) });
      const found = all && text ? await withText(all, asked, signal) : all;
      const seqs = found && upTo !== undefined ? found.slice(0, countUpTo(found, upTo)) : found;
      const total = seqs?.length ?? Math.min(head, upTo ?? head);
      const start = Math.max(0, from < 0 ? total + from : from);
      const page = seqs
        ? seqs.slice(start, start + count)
        : Array.from({ length: Math.max(0, Math.min(count, total - start)) }, (_, i) => start + i + 1);
      return { from: start, rows: shownRows(await readRaw(page), upTo), total, head };
    },
    async rowsAfter(seq) {
      await index.advance();
      // Kept: others read on meanwhile, and what comes then is told the next time.
      const { head } = index;
      const first = Math.max(seq, head - MOST_ROWS);
      const seqs = Array.from({ length: Math.max(0, head - first) }, (_, i) => first + i + 1);
      return { rows: shownRows(await readRaw(seqs)), head };
    },
    async detail(seq) {
      for await (const raw of store.read(id, { after: seq - 1, upTo: seq })) {
        const { data } = await unspill(raw.data, store.blob);
        const decoded = readers.codec.decode({ ...raw, data });
        const event = decoded.ok ? decoded.event : { ...raw, data };
        const shown = eventDetail(event);
        if (event.type !== "reply.received") return shown;
        await index.advance();
        const n = usage.roundAt(event.actor, seq);
        return { ...shown, ...(n !== undefined && { round: { agent: event.actor, n } }) };
      }
      return undefined;
    },
    async data() {
      const all = await (await context()).list();
      const newest = all.length > MOST_KEYS ? all.toSorted((a, b) => b.version - a.version).slice(0, MOST_KEYS) : all;
      return newest.map(({ key, version, author, at, bytes, preview }) => ({
        ...{ key: printable(key), version, at, bytes, by: oneLine(author, 60), preview: oneLine(preview, 300) },
      }));
    },
    async dataHistory(key, seq) {
      const handle = await context();
      const all = await handle.history(key);
      if (all.length === 0) return undefined;
      const versions = all.slice(-MOST_VERSIONS).map(({ version, at, author, op, bytes, current }) => ({
        ...{ seq: version, at, by: oneLine(author, 60), op, bytes, current },
      }));
      const value = await readValue(() => handle.read(key, undefined, seq === undefined ? {} : { version: seq }));
      return { key: printable(key), versions, ...(value && { value }) };
    },
  };
}

/** How many of them, in order, are not beyond `upTo`. */
function countUpTo(seqs: readonly Seq[], upTo: Seq): number {
  let low = 0;
  let high = seqs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seqs[middle]! <= upTo) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function readValue(read: () => Promise<unknown>): Promise<TextSection | undefined> {
  try {
    const value = await read();
    return value === undefined ? undefined : section("value", "json", JSON.stringify(value, null, 2) ?? "");
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return section("cannot be read", "text", error.message);
  }
}
