// `holdfast traces send`: what ledgers record of contexts, as traces. Whoever ran them, and however they ended.
import { type ContextInfo, contextEntries, listContexts } from "../../contexts/listing.ts";
import { captureContent } from "../../front/traces/content.ts";
import { readSpans } from "../../front/traces/read-spans.ts";
import { bodiesOf, sendSpans } from "../../front/traces/send.ts";
import { traceSettings } from "../../front/traces/settings.ts";
import type { RecordedSpan } from "../../front/traces/span.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Store } from "../../ledger/store.ts";
import { redactor } from "../../mechanisms/redaction/index.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import { findContext, withState } from "../open.ts";

export interface TraceFlags extends PlaceFlags {
  all: boolean;
  since?: number | undefined;
}

/** What was done in each of the contexts that are meant, one after another. */
async function eachContext(
  flags: TraceFlags,
  given: readonly string[],
  tell: (spans: RecordedSpan[], context: string) => Promise<void>,
): Promise<number> {
  return withState(flags, async ({ store, project, jobsDir }) => {
    const contexts = await chosen(store, flags, given);
    const { codec } = await ledgerReaders({ root: project.root, jobsDir });
    const { settings } = traceSettings(process.env);
    const content = settings.content ? captureContent(redactor(process.env) ?? ((text) => text)) : undefined;
    const since = flags.since === undefined ? 0 : Date.now() - flags.since;
    for (const context of contexts) {
      const reader = readSpans({ store, codec, context, content });
      await reader.readOn();
      await tell(recent(reader.take(), since), context);
    }
    return contexts.length;
  });
}

export async function showTraces(flags: TraceFlags, given: readonly string[]): Promise<number> {
  const { settings } = traceSettings(process.env);
  await eachContext(flags, given, async (spans, context) => {
    if (spans.length === 0) process.stderr.write(`holdfast: ${context} has no spans${withinTime(flags)}\n`);
    for (const { json } of bodiesOf(spans, settings.resource)) process.stdout.write(`${json}\n`);
  });
  return 0;
}

export async function sendTraces(flags: TraceFlags & JsonToo, given: readonly string[]): Promise<number> {
  const { settings, says } = traceSettings(process.env);
  if (!settings.endpoint)
    throw new HoldfastError("invalid", says ?? "set OTEL_EXPORTER_OTLP_ENDPOINT to where traces go");
  let sent = 0;
  const contexts = await eachContext(flags, given, async (spans) => {
    const { spans: taken, problem } = await sendSpans(spans, settings);
    sent += taken;
    if (problem !== undefined)
      throw new HoldfastError("unreachable", `${counted(sent, "span")} sent, then no more: ${problem}`);
  });
  if (flags.json) process.stdout.write(`${JSON.stringify({ contexts, spans: sent })}\n`);
  else process.stdout.write(`${counted(sent, "span")} of ${counted(contexts, "context")} sent\n`);
  return 0;
}

/** Where a time was given, a context may have older ones. */
const withinTime = ({ since }: TraceFlags): string => (since === undefined ? "" : " in that time");

async function chosen(store: Store, flags: TraceFlags, given: readonly string[]): Promise<string[]> {
  if (given.length > 0) return Promise.all(given.map(async (one) => (await findContext(store, one, flags)).id));
  if (flags.all || flags.since !== undefined) {
    const ids: string[] = [];
    for await (const { ledger } of contextEntries(store)) ids.push(ledger);
    return ids;
  }
  const [newest]: ContextInfo[] = (await listContexts(store)).filter(({ aside }) => !aside);
  if (newest) return [newest.id];
  throw new HoldfastError("not_found", "there is no context here yet");
}

/** Whole turns: one that ended before goes with all that was done in it. */
function recent(spans: readonly RecordedSpan[], since: number): RecordedSpan[] {
  const ends = new Map<string, number>();
  for (const { turn, to } of spans) ends.set(turn, Math.max(ends.get(turn) ?? 0, to));
  return spans.filter(({ turn }) => ends.get(turn)! >= since);
}
