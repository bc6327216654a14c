// The exact bytes of what a model was asked, and how they differ from the request before.
import { lineDiff } from "../../file-access/line-diff.ts";
import type { RecordedRequest } from "../../loop/recorded-request.ts";
import { recordedBody } from "../../models/recorded-body.ts";
import { printable } from "../presentation/printable.ts";
import { requestsOf } from "../requests/breaks.ts";
import { compareRequests } from "../requests/compare.ts";
import { differenceLines, doubtLines } from "../requests/text.ts";
import type { RequestView } from "./context-api.ts";
import { section } from "./event-detail.ts";
import type { MonitoredProject } from "./monitored-project.ts";

/** Of both; longer ones are compared in words only. */
const MOST_COMPARED = 12_000_000;

/** Each reading begins at the first event, and whoever looks at one request looks at its neighbours next: so many before it and behind it are kept. */
const BEFORE = 20;
const BEHIND = 10;

interface Round {
  agent: string;
  n: number;
}

interface Asked {
  request: RecordedRequest;
  before?: RecordedRequest;
}

export interface RequestReader {
  /** Contract: one reading at a time; what was answered never changes, and may come from what is kept. */
  of(round: Round): Promise<Asked | undefined>;
}

export function createRequestReader({ store, readers }: MonitoredProject, context: string): RequestReader {
  let kept: { agent: string; requests: readonly RecordedRequest[] } = { agent: "", requests: [] };
  let reading: Promise<unknown> = Promise.resolve();

  function keptOf({ agent, n }: Round): Asked | undefined {
    if (kept.agent !== agent) return undefined;
    const place = kept.requests.findIndex((one) => one.n === n);
    const request = kept.requests[place];
    const before = kept.requests[place - 1];
    return request && (before || n === 1) ? { request, ...(before && { before }) } : undefined;
  }

  async function read({ agent, n }: Round): Promise<Asked | undefined> {
    const found = keptOf({ agent, n });
    if (found) return found;
    const requests: RecordedRequest[] = [];
    /** Grows until it is asked: not kept. */
    let next: RecordedRequest | undefined;
    for await (const { request } of requestsOf({ store, codec: readers.codec, context, agent })) {
      if (!request.reply) next = request;
      else if (request.n >= n - BEFORE) requests.push(request);
      if (request.n >= n + BEHIND) break;
    }
    kept = { agent, requests };
    const before = requests.at(-1);
    return next?.n === n ? { request: next, ...(before && { before }) } : keptOf({ agent, n });
  }

  return {
    of(round) {
      const answer = reading.then(() => read(round));
      reading = answer.catch(() => undefined);
      return answer;
    },
  };
}

export async function bodyOf({ model, wire, request }: RecordedRequest): Promise<Buffer> {
  if (model !== undefined && wire) return recordedBody(model, wire, request);
  const { maxOutputTokens, system, tools, items } = request;
  return Buffer.from(JSON.stringify({ ...(model && { model }), maxOutputTokens, system, tools, items }));
}

export async function requestView({ request, before }: Asked): Promise<RequestView> {
  const bytes = await bodyOf(request);
  const shown = pretty(bytes);
  const past = before && pretty(await bodyOf(before));
  const [doubt] = doubtLines(request.doubt);
  const diff =
    past !== undefined && past.length + shown.length < MOST_COMPARED ? lineDiff("request", past, shown) : undefined;
  return {
    ...{ agent: printable(request.agent), n: request.n, bytes: bytes.length },
    ...(doubt !== undefined && { doubt: printable(doubt) }),
    body: section("request", "json", shown),
    differs: before ? differenceLines(before, request, compareRequests(before, request)).map(printable) : [],
    ...(diff !== undefined && diff !== "" && { diff: section("diff", "diff", diff) }),
  };
}

/** The same in every field; spread over lines, so that what differs is seen. */
function pretty(bytes: Buffer): string {
  try {
    return JSON.stringify(JSON.parse(bytes.toString("utf8")), null, 2);
  } catch {
    return bytes.toString("utf8");
  }
}
