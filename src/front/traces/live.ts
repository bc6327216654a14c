// Sending what the agents of this process did, when their turns have ended. The work never waits for it and never fails by it; what is not sent now can be sent later.
import { setTimeout as sleep } from "node:timers/promises";
import type { Codec } from "../../ledger/events.ts";
import type { Seq, Store } from "../../ledger/store.ts";
import { nothing } from "../../loop/carry.ts";
import { type AgentView, defineMechanism, type Mechanism } from "../../loop/seams.ts";
import { redactor } from "../../mechanisms/redaction/index.ts";
import { counted } from "../../text/counted.ts";
import { captureContent } from "./content.ts";
import { readSpans, type SpanReader } from "./read-spans.ts";
import { sendSpans } from "./send.ts";
import type { TraceSettings } from "./settings.ts";
import type { RecordedSpan } from "./span.ts";

/** What is recorded within this time is read together. */
const TOGETHER_MS = 1_000;
/** A turn that goes on for long is sent in parts. */
const MOST_WAITING = 2_000;
/** So long an ending process waits for its collector. */
const AT_END_MS = 2_000;

export interface LiveTraces {
  /** Tells it whose turns are run here; it changes nothing. */
  readonly mechanism: Mechanism;
  /** Contract: to be called while the store is open, when nothing runs any more; gives what a person should know, at most one line. */
  close(): Promise<string | undefined>;
}

interface Followed {
  reader: SpanReader;
  /** Whose turns this process runs, since which event. */
  agents: Map<string, Seq>;
}

export interface LiveTracesOptions {
  store: Store;
  /** Known once the harness is made. */
  codec: () => Codec;
  settings: TraceSettings;
  /** The command that sends what a context recorded, as a person types it. */
  sendLine: (context: string) => string;
}

export function sendLive({ store, codec, settings, sendLine }: LiveTracesOptions): LiveTraces {
  const ends = new AbortController();
  const followed = new Map<string, Followed>();
  const dirty = new Set<string>();
  const content = settings.content ? captureContent(redactor(process.env) ?? ((text) => text)) : undefined;
  let waiting: RecordedSpan[] = [];
  let unsent = 0;
  let problem: string | undefined;
  let isWatching = false;
  /** One reading or sending at a time. */
  let last: Promise<void> = Promise.resolve();
  let isRinging = false;

  function follow({ context, agent }: AgentView, since: Seq): void {
    const known = followed.get(context) ?? {
      ...{ reader: readSpans({ store, codec: codec(), context, content }), agents: new Map<string, Seq>() },
    };
    if (!known.agents.has(agent)) known.agents.set(agent, since);
    followed.set(context, known);
    ring(context);
    if (isWatching) return;
    isWatching = true;
    watch().catch(() => undefined);
  }

  async function watch(): Promise<void> {
    for await (const { ledger } of store.watchAll(ends.signal)) if (followed.has(ledger)) ring(ledger);
  }

  function ring(context: string): void {
    dirty.add(context);
    if (isRinging) return;
    isRinging = true;
    sleep(TOGETHER_MS, undefined, { signal: ends.signal, ref: false })
      .then(() => inTurn(readAll))
      .catch(() => undefined)
      .finally(() => {
        isRinging = false;
        const [next] = dirty;
        if (next !== undefined && !ends.signal.aborted) ring(next);
      });
  }

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work, work).catch(() => undefined);
    return last;
  };

  async function readAll(): Promise<void> {
    for (const context of [...dirty]) {
      dirty.delete(context);
      const one = followed.get(context);
      if (one) await readOne(one);
    }
    if (waiting.length > 0) await send();
  }

  /** Turns that ended here, with all that others did in them; a turn that is left open is sent by whoever ends it. */
  async function readOne({ reader, agents }: Followed): Promise<void> {
    await reader.readOn();
    const isLong = reader.size > MOST_WAITING;
    const isWanted = ({ agent }: RecordedSpan, ended: Seq | undefined): boolean => {
      const since = agents.get(agent);
      return since !== undefined && (ended === undefined ? isLong : ended > since);
    };
    waiting.push(...reader.take(isWanted));
  }

  async function send(): Promise<void> {
    const batch = waiting;
    waiting = [];
    const sent = await sendSpans(batch, settings, ends.signal);
    if (sent.problem === undefined) return;
    ({ problem } = sent);
    unsent += batch.length - sent.spans;
  }

  return {
    mechanism: defineMechanism({
      name: "traces",
      carry: nothing,
      async start(turn) {
        follow(turn, await store.head(turn.context));
        return [];
      },
    }),
    async close() {
      for (const context of followed.keys()) dirty.add(context);
      const inTime = AbortSignal.timeout(Math.min(AT_END_MS, settings.endpoint?.timeoutMs ?? AT_END_MS));
      const rest = inTurn(readAll);
      const gaveUp = new Promise<"late">((resolve) => {
        inTime.addEventListener("abort", () => resolve("late"));
      });
      const how = followed.size === 0 ? undefined : await Promise.race([rest, gaveUp]);
      ends.abort();
      if (how === "late") problem ??= "the collector did not answer in time";
      if (problem === undefined) return undefined;
      const what = unsent > 0 ? `${counted(unsent, "span")} were not sent` : "not all spans were sent";
      return `traces: ${what} (${problem}): \`${sendLine([...followed.keys()][0]!)}\` sends them`;
    },
  };
}
