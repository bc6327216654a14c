// Sending spans: one request after another, tried again where the collector asks for it. Nothing that was sent twice counts twice: the ids are the same.
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode, isRecord } from "../../ledger/guards.ts";
import { oneLine } from "../presentation/printable.ts";
import { otlpBody } from "./otlp.ts";
import type { TraceSettings } from "./settings.ts";
import type { RecordedSpan } from "./span.ts";

/** In one request. */
const MOST_SPANS = 400;
const TRIES = 3;
const PAUSE_MS = 400;
const MOST_PAUSE_MS = 5_000;
/** The collector, or a proxy before it, may take it later. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MOST_ANSWER = 64 * 1_024;

/** `problem`: why not all were taken, for people; it holds no header. */
export interface Sent {
  spans: number;
  problem?: string;
}

export async function sendSpans(
  spans: readonly RecordedSpan[],
  { endpoint, resource }: TraceSettings,
  signal?: AbortSignal,
): Promise<Sent> {
  if (!endpoint) return { spans: 0, problem: "there is no endpoint" };
  let sent = 0;
  for (const body of bodiesOf(spans, resource)) {
    const problem = await post(body.json, endpoint, signal);
    if (problem !== undefined) return { spans: sent, problem };
    sent += body.spans;
  }
  return { spans: sent };
}

export function* bodiesOf(
  spans: readonly RecordedSpan[],
  resource: TraceSettings["resource"],
): Generator<{ json: string; spans: number }> {
  for (let from = 0; from < spans.length; from += MOST_SPANS) {
    const some = spans.slice(from, from + MOST_SPANS);
    yield { json: otlpBody(some, resource), spans: some.length };
  }
}

type Endpoint = NonNullable<TraceSettings["endpoint"]>;

/** Undefined: it was taken whole. */
async function post(body: string, endpoint: Endpoint, signal: AbortSignal | undefined): Promise<string | undefined> {
  let problem: string | undefined;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const answer = await once(body, endpoint, signal);
    if (answer.isTaken) return answer.problem;
    ({ problem } = answer);
    if (!answer.later || signal?.aborted || attempt === TRIES) break;
    const paused = sleep(Math.min(answer.waitMs ?? PAUSE_MS * attempt, MOST_PAUSE_MS), undefined, {
      ...(signal && { signal }),
    });
    if (await paused.then(() => false).catch(() => true)) break;
  }
  return problem;
}

interface Answer {
  isTaken: boolean;
  later: boolean;
  waitMs?: number;
  problem?: string;
}

async function once(
  body: string,
  { url, headers, timeoutMs }: Endpoint,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const inTime = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, {
      ...{ method: "POST", body, headers: { ...headers, "content-type": "application/json" } },
      redirect: "error", // what is in the headers goes nowhere else
      signal: signal ? AbortSignal.any([signal, inTime]) : inTime,
    });
    const text = (await answer.text()).slice(0, MOST_ANSWER);
    if (answer.ok) return { isTaken: true, later: false, ...partly(text) };
    const wait = Number(answer.headers.get("retry-after"));
    const problem = `${place(url)} answered ${answer.status}`;
    return { isTaken: false, later: LATER.has(answer.status), problem, ...(wait > 0 && { waitMs: wait * 1_000 }) };
  } catch (error) {
    if (inTime.aborted) return { isTaken: false, later: true, problem: `${place(url)} did not answer in time` };
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = errorCode(cause);
    const why = code === undefined ? "" : ` (${oneLine(code, 60)})`;
    return { isTaken: false, later: true, problem: `${place(url)} cannot be reached${why}` };
  }
}

/** Without what a person may have put into it. */
const place = ({ origin, pathname }: URL): string => oneLine(`${origin}${pathname}`, 200);

/** A collector may take a part and say so. */
function partly(text: string): { problem?: string } {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: unknown };
    const { rejectedSpans, errorMessage } = isRecord(partialSuccess) ? partialSuccess : {};
    const rejected = Number(rejectedSpans);
    if (!(rejected > 0)) return {};
    const why = typeof errorMessage === "string" ? `: ${oneLine(errorMessage, 200)}` : "";
    return { problem: `${rejected} spans were not taken${why}` };
  } catch {
    return {};
  }
}
