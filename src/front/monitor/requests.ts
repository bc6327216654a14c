// The exact bytes of what a model was asked, and how they differ from the request before.
import { lineDiff } from "../../file-access/line-diff.ts";
import type { RecordedRequest } from "../../loop/recorded-request.ts";
import { recordedBody } from "../../models/recorded-body.ts";
import { printable } from "../presentation/printable.ts";
import { requestsOf } from "../requests/breaks.ts";
import { compareRequests } from "../requests/compare.ts";
import { differenceLines, doubtLines } from "../requests/text.ts";
import type { RequestView } from "./api.ts";
import { section } from "./event-detail.ts";
import type { MonitoredProject } from "./monitored-project.ts";

/** Longer ones are compared in words only. */
const MOST_COMPARED = 1_500_000;

interface Round {
  agent: string;
  n: number;
}

export async function requestOf(
  project: MonitoredProject,
  context: string,
  { agent, n }: Round,
): Promise<Asked | undefined> {
  const { store, readers } = project;
  let before: RecordedRequest | undefined;
  for await (const { request } of requestsOf({ store, codec: readers.codec, context, agent })) {
    if (request.n === n) return { request, ...(before && { before }) };
    before = request;
  }
  return undefined;
}

interface Asked {
  request: RecordedRequest;
  before?: RecordedRequest;
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
