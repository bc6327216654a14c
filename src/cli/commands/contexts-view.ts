// `holdfast contexts show CONTEXT --view|--diff|--breaks`: what the model was asked, from the ledger alone.
import { type AskedRound, requestsOf, roundsAsked } from "../../front/requests/breaks.ts";
import { compareRequests } from "../../front/requests/compare.ts";
import { breakLines, differenceLines, doubtLines, requestLines } from "../../front/requests/text.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Codec } from "../../ledger/events.ts";
import type { Store } from "../../ledger/store.ts";
import type { RecordedRequest } from "../../loop/recorded-request.ts";
import { recordedBody } from "../../models/recorded-body.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo } from "../flags.ts";

export interface ViewFlags extends JsonToo {
  view?: string | undefined;
  diff: readonly string[];
  breaks: boolean;
  agent?: string | undefined;
}

export const asksForView = ({ view, diff, breaks }: ViewFlags): boolean =>
  view !== undefined || diff.length > 0 || breaks;

interface Viewed {
  store: Store;
  codec: Codec;
  context: string;
  /** All there are. */
  agents: readonly string[];
}

export async function showView(flags: ViewFlags, viewed: Viewed): Promise<number> {
  const agent = agentOf(flags, viewed);
  const source = { ...viewed, agent };
  if (flags.view !== undefined) return printRequest(flags, await requestAt(source, flags.view));
  if (flags.diff.length > 0) return printDifference(flags, await bothOf(source, flags.diff));
  return printBreaks(flags, source);
}

type Source = Viewed & { agent: string };

function agentOf({ agent = "lead" }: ViewFlags, { context, agents }: Viewed): string {
  if (agents.includes(agent)) return agent;
  throw new HoldfastError("not_found", `${context} has no agent "${agent}": give --agent ${agents.join(" or ")}`);
}

/** As it is typed: 3, r3, next. */
const isRound = (given: string): boolean => given === "next" || /^r?[1-9]\d*$/.test(given);

async function requestAt(source: Source, given: string): Promise<RecordedRequest> {
  if (!isRound(given))
    throw new HoldfastError("invalid", `"${given}" is no round: give its number, such as 3, or next`);
  let replies = 0;
  for await (const { request } of requestsOf(source)) {
    if (given === "next" ? !request.reply : request.reply && request.n === Number(given.replace("r", "")))
      return request;
    if (request.reply) replies = request.n;
  }
  const there =
    replies === 0
      ? "no reply yet: give next"
      : `${counted(replies, "reply", "replies")}: give 1 to ${replies}, or next`;
  throw new HoldfastError("not_found", `${source.agent} of ${source.context} has ${there}`);
}

async function bothOf(source: Source, given: readonly string[]): Promise<[RecordedRequest, RecordedRequest]> {
  const [from, to, ...more] = given;
  if (from === undefined || to === undefined || more.length > 0)
    throw new HoldfastError("invalid", "--diff takes two rounds, such as --diff 3 4");
  return [await requestAt(source, from), await requestAt(source, to)];
}

/** With --json exactly the bytes that were sent. */
async function printRequest({ json }: ViewFlags, recorded: RecordedRequest): Promise<number> {
  if (!json) return print(requestLines(recorded));
  for (const line of doubtLines(recorded.doubt)) process.stderr.write(`holdfast: ${line}\n`);
  process.stdout.write(await bytesOf(recorded));
  if (process.stdout.isTTY) process.stdout.write("\n");
  return 0;
}

async function bytesOf({ model, wire, request }: RecordedRequest): Promise<Buffer> {
  if (model !== undefined && wire) return recordedBody(model, wire, request);
  const { maxOutputTokens, system, tools, items } = request;
  return Buffer.from(JSON.stringify({ ...(model && { model }), maxOutputTokens, system, tools, items }));
}

function printDifference({ json }: ViewFlags, [from, to]: [RecordedRequest, RecordedRequest]): number {
  const compared = compareRequests(from, to);
  if (!json) return print(differenceLines(from, to, compared));
  return print([JSON.stringify({ agent: to.agent, from: from.n, to: to.n, ...compared })]);
}

async function printBreaks({ json }: ViewFlags, source: Source): Promise<number> {
  const rounds: AskedRound[] = [];
  for await (const round of roundsAsked(source)) rounds.push(round);
  return print(json ? [JSON.stringify({ agent: source.agent, rounds })] : breakLines(source.agent, rounds));
}

function print(lines: readonly string[]): number {
  process.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}
