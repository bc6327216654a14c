// Requests as a person reads them: one, how two differ, and the breaks of a conversation.
import type { RecordedRequest, RequestDoubt } from "../../loop/recorded-request.ts";
import { BREAK_CAUSES } from "../../mechanisms/prompt-cache/index.ts";
import type { BreakCause, CacheBreaks } from "../../mechanisms/prompt-cache/port.ts";
import { counted } from "../../text/counted.ts";
import { duration, tokens } from "../presentation/format.ts";
import { oneLine } from "../presentation/printable.ts";
import type { AskedRound } from "./breaks.ts";
import { type Compared, requestSize } from "./compare.ts";
import { type RequestPiece, requestPiece, size, textBytes } from "./pieces.ts";

const ABOUT = 96;

const nameOf = ({ n, reply }: RecordedRequest): string => (reply ? `r${n}` : `r${n}, not asked yet`);

export function requestLines(recorded: RecordedRequest): string[] {
  const { agent, model, request } = recorded;
  const { system, tools, items, maxOutputTokens } = request;
  const pieces = items.map(requestPiece);
  const all = (bytes: readonly number[]) => size(bytes.reduce((sum, one) => sum + one, 0));
  return [
    `${oneLine(agent, 60)}: request of ${nameOf(recorded)} to ${oneLine(model ?? "a model that is not recorded", 80)}, about ${size(requestSize(recorded))}, at most ${maxOutputTokens} tokens back`,
    ...doubtLines(recorded.doubt),
    "",
    `System prompt: ${counted(system.length, "block")}, ${all(system.map(textBytes))}`,
    ...system.map((text, i) => `  ${i + 1}  ${size(textBytes(text))}  ${oneLine(text, ABOUT)}`),
    "",
    `Tools: ${tools.length}, ${size(textBytes(JSON.stringify(tools)))}`,
    ...(tools.length > 0 ? [`  ${oneLine(tools.map(({ name }) => name).join(", "), 4_000)}`] : []),
    "",
    `Messages: ${items.length}, ${all(pieces.map(({ bytes }) => bytes))}`,
    ...pieces.map((piece) => `  ${pieceLine(piece)}`),
  ];
}

const KINDS: Record<RequestPiece["kind"], string> = { user: "said", note: "note", reply: "reply", result: "result" };

const pieceLine = ({ ref, kind, bytes, about }: RequestPiece): string =>
  `${ref}  ${KINDS[kind]}, ${size(bytes)}  ${oneLine(about, ABOUT)}`;

export function doubtLines(doubt: RequestDoubt | undefined): string[] {
  if (!doubt) return [];
  if (doubt.kind === "altered") return ["Not exact: a mechanism around the model call sent something else."];
  if (doubt.kind === "viewed_by")
    return [`Not exact: ${doubt.mechanisms.join(", ")} changed what the model saw, and is not part of Holdfast.`];
  return ["Not exact: not all of it is recorded (it was asked by an older Holdfast, or nothing was asked yet)."];
}

export function differenceLines(from: RecordedRequest, to: RecordedRequest, compared: Compared): string[] {
  const { kept, anew } = compared.bytes;
  const head = `${oneLine(to.agent, 60)}: from the request of ${nameOf(from)} to that of ${nameOf(to)}`;
  const sizes = `${size(kept)} at its beginning are the same, ${size(anew)} come behind them`;
  const how = compared.isExtension ? "it goes on where the first ended" : "the prefix breaks";
  const { same, leftOut, masked, shownAgain, added } = compared.messages;
  const changes = [
    ...partsChanged(compared),
    ...leftOut.map((piece) => `- left out     ${pieceLine(piece)}`),
    ...masked.map(({ piece, from: was }) => `~ masked       ${pieceLine(piece)}, before ${size(was)}`),
    ...shownAgain.map(({ piece, from: was }) => `~ shown again  ${pieceLine(piece)}, before ${size(was)}`),
    ...added.map((piece) => `+ added        ${pieceLine(piece)}`),
  ];
  return [
    `${head}: ${how}; ${sizes}`,
    ...[from, to].flatMap(({ doubt }) => doubtLines(doubt)).slice(0, 1),
    `The first ${counted(same, "message")} ${same === 1 ? "is" : "are"} the same.`,
    ...(changes.length === 0 ? ["Nothing differs."] : changes),
  ];
}

/** What differs besides messages, a line each. */
function partsChanged({ model, tools, system }: Compared): string[] {
  const blocks = (what: string, numbers: readonly number[]) =>
    numbers.length === 0
      ? []
      : [`~ system prompt: ${what} ${numbers.length === 1 ? "block" : "blocks"} ${numbers.join(", ")}`];
  const named = (sign: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${sign} tools: ${oneLine(names.join(", "), 400)}`];
  return [
    ...(model ? [modelLine(model)] : []),
    ...named("+", tools.added),
    ...named("-", tools.removed),
    ...named("~", tools.changed),
    ...(tools.isReordered ? ["~ tools: in another order"] : []),
    ...blocks("other", system.changed),
    ...blocks("new", system.added),
    ...blocks("without", system.removed),
  ];
}

const modelLine = ({ from, to }: NonNullable<Compared["model"]>): string =>
  from === to
    ? `~ model: ${oneLine(to ?? "not recorded", 80)}, with other settings`
    : `~ model: ${oneLine(from ?? "not recorded", 80)} → ${oneLine(to ?? "not recorded", 80)}`;

/** What a person calls it, and how several of them are counted. */
const CAUSES: Record<BreakCause, string> = {
  epoch: "the conversation was made smaller",
  overflow: "it was too long, and made smaller",
  undo: "what was left out is in view again",
  restore: "went back to a checkpoint",
  system: "the system prompt changed",
  tools: "the tools changed",
  model: "another model, or other settings",
  expired: "the provider had nothing of it any more",
  unknown: "changed by a mechanism",
};

export const breakCauseText = (cause: BreakCause): string => CAUSES[cause];

/** "": there was none. */
export function breaksText({ requests, byCause }: CacheBreaks): string {
  if (requests === 0) return "";
  const causes = BREAK_CAUSES.flatMap((cause) => (byCause[cause] ? [`${byCause[cause]} × ${CAUSES[cause]}`] : []));
  return `${counted(requests, "request")} broke the cached prefix: ${causes.join(", ")}`;
}

export function breakLines(agent: string, rounds: readonly AskedRound[]): string[] {
  const broken = rounds.filter(({ causes }) => causes.length > 0);
  const sum = (of: (round: AskedRound) => number) => rounds.reduce((all, round) => all + of(round), 0);
  const kept = sum(({ bytes }) => bytes.kept);
  const share = Math.round((100 * kept) / Math.max(1, kept + sum(({ bytes }) => bytes.anew)));
  return [
    `${oneLine(agent, 60)}: ${counted(rounds.length, "request")}, ${broken.length} broke the cached prefix; ${share} % of what was sent continued the request before`,
    ...broken.flatMap((round) => [
      roundLine(round),
      ...(round.compared ? partsChanged(round.compared) : []).map((line) => `      ${line}`),
    ]),
  ];
}

function roundLine({ n, causes, bytes, tokens: counts, afterMs }: AskedRound): string {
  const why = causes.map((cause) => CAUSES[cause]).join(", ");
  const late = afterMs !== undefined && afterMs > 300_000 ? `, ${duration(afterMs)} after the reply before it` : "";
  return `  r${n}  ${why}${late}: ${size(bytes.kept)} kept, ${size(bytes.anew)} sent anew (${tokens(counts.cached)} tokens from cache, ${tokens(counts.fresh)} not)`;
}
