// What an epoch leaves out: old results as lines first, the oldest first; whole rounds only where that is not enough. Deep, so that it happens rarely.
import { type CallPart, type Item, textOf } from "../../models/model.ts";
import type { Cause, Epoch, OfAgent, Segment, Snip } from "./events.ts";
import { contentSize, lineFor, type Result, withLine } from "./line.ts";
import { callsIn, type Round, roundsOf } from "./rounds.ts";
import { type Measure, sizeOf } from "./size.ts";
import { masksOf, snipOf, viewOf } from "./view.ts";

/** Parts of the window that is left beside system prompt and tools. */
const GOAL = 0.1;
const ENOUGH = 0.3;
/** Of a request that did not fit, whatever the window was thought to be. */
const GOAL_OF_OVERFLOW = 0.4;
/** The last rounds stay whole. */
const KEPT_ROUNDS = 3;

export interface Planning {
  items: readonly Item[];
  state: OfAgent;
  window: number;
  measure: Measure;
  cause: Cause;
  /** Tools whose results go last. */
  keeps: readonly string[];
  recalls: boolean;
  /** Characters that the sheet has for what was said: rounds with more of it want a summary. */
  room: number;
}

/** What is to go. */
export interface Draft {
  masks: Epoch["masks"];
  /** Whole rounds, the oldest first. */
  rounds: Round[];
  /** Of these the sheet cannot say all, and the model has their originals in view. */
  summarise?: Pick<Segment, "from" | "to">;
  before: number;
}

/** Contract: undefined where nothing can be left out. */
export function draftEpoch(planning: Planning): Draft | undefined {
  const { items, state, measure } = planning;
  const before = measure.tokens(viewOf(items, state.epochs));
  const { goal, enough } = goalsOf(planning, before);
  const { masks, saved } = masksFor(planning, before - goal);
  const rounds = before - saved > enough || masks.length === 0 ? roundsToGo(planning, masks, goal) : [];
  if (masks.length === 0 && rounds.length === 0) return undefined;
  const summarise = worthSummary(rounds, planning);
  return { masks, rounds, before, ...(summarise && { summarise }) };
}

function goalsOf({ window, measure, cause }: Planning, before: number): { goal: number; enough: number } {
  const free = Math.max(0, window - measure.fixed);
  const goal = measure.fixed + GOAL * free;
  const enough = measure.fixed + ENOUGH * free;
  if (cause !== "overflow") return { goal, enough };
  const most = measure.fixed + GOAL_OF_OVERFLOW * Math.max(0, before - measure.fixed);
  return { goal: Math.min(goal, most), enough: Math.min(enough, most) };
}

/** Results that a model call has carried; those that hold for all that follows only where nothing else is left. */
function masksFor({ items, state, measure, keeps, recalls }: Planning, wanted: number) {
  const known = masksOf(state.epochs);
  const calls = callsIn(items);
  // What is before the last reply, a model call has carried.
  const seen = items.slice(
    0,
    Math.max(
      0,
      items.findLastIndex(({ kind }) => kind === "reply"),
    ),
  );
  const open = seen.flatMap((item) => {
    if (item.kind !== "result" || known.has(item.callId)) return [];
    return maskable(item, calls.get(item.callId), recalls) ?? [];
  });
  const isKept = ({ name }: { name: string }) => keeps.includes(name);
  const masks: Epoch["masks"] = [];
  let saved = 0;
  for (const { call, line, size } of [...open.filter((one) => !isKept(one)), ...open.filter(isKept)]) {
    if (saved >= wanted) break;
    masks.push({ call, line });
    saved += measure.tokensOf(size);
  }
  return { masks, saved };
}

/** Undefined: its line would be hardly shorter, and worse to read. */
function maskable(item: Result, call: CallPart | undefined, recalls: boolean) {
  const line = lineFor(item, { call, recalls });
  if (contentSize(item.content) < 2 * line.length) return undefined;
  return { call: item.callId, name: item.name, line, size: sizeOf(item) - sizeOf(withLine(item, line)) };
}

/** The oldest rounds that are still shown, as many as it takes. */
function roundsToGo({ items, state, measure }: Planning, masks: Epoch["masks"], goal: number): Round[] {
  const epochs = [...state.epochs, { seq: 0, masks, snips: [] }];
  const lines = masksOf(epochs);
  const shownSize = (item: Item) => {
    const line = item.kind === "result" ? lines.get(item.callId) : undefined;
    return line === undefined ? sizeOf(item) : line.length;
  };
  let tokens = measure.tokens(viewOf(items, epochs));
  const rounds: Round[] = [];
  for (const round of shownRounds(items, state.epochs).slice(0, -KEPT_ROUNDS)) {
    if (tokens <= goal) break;
    rounds.push(round);
    tokens -= measure.tokensOf(round.items.reduce((sum, item) => sum + shownSize(item), 0));
  }
  return rounds;
}

const shownRounds = (items: readonly Item[], epochs: OfAgent["epochs"]): Round[] =>
  roundsOf(items).rounds.filter(({ n }) => !snipOf(epochs, n));

/** Those at the end of which nothing was left out before: the model sees what they were, and what is said of them is from that. */
function worthSummary(rounds: readonly Round[], { state, room, cause }: Planning): Draft["summarise"] {
  if (cause === "overflow") return undefined; // there is no room to ask
  const masked = masksOf(state.epochs);
  const isMasked = ({ items }: Round) => items.some((item) => item.kind === "result" && masked.has(item.callId));
  const fresh = rounds.slice(rounds.findLastIndex(isMasked) + 1);
  const said = fresh.flatMap(({ items }) => items.map((item) => (item.kind === "result" ? 0 : wordsIn(item))));
  const words = said.reduce((sum, size) => sum + size, 0);
  const [first, last] = [fresh[0], fresh.at(-1)];
  const isWanted = words > room || (state.asked?.focus !== undefined && words > 0);
  return first && last && isWanted ? { from: first.n, to: last.n } : undefined;
}

const wordsIn = (item: Exclude<Item, { kind: "result" }>): number =>
  textOf(item.kind === "reply" ? item.parts : item.content).length;

export type Planned = Omit<Epoch, "seq" | "tokens"> & { tokens: { before: number; after: number } };

/** `sheet`: of the rounds that are out of view then. */
export function epochOf(
  draft: Draft,
  { items, state, measure, recalls }: Planning,
  { summary, sheet }: { summary: Segment | undefined; sheet: (hidden: readonly Round[]) => string },
): Planned {
  const { masks, rounds, before } = draft;
  const all = roundsOf(items).rounds;
  const snips = snipsOf(rounds, all, { epochs: state.epochs, summary, recalls });
  const text = sheet(all.filter(({ n }) => snipOf([...state.epochs, { seq: 0, masks, snips }], n)));
  const after = Math.max(rounds.at(-1)?.n ?? 0, lastMasked(all, masks));
  const epoch = { masks, snips, ...(text !== "" && { sheet: { after, text } }) };
  const view = viewOf(items, [...state.epochs, { ...epoch, seq: 0 }]);
  return { ...epoch, tokens: { before, after: measure.tokens(view) } };
}

const lastMasked = (rounds: readonly Round[], masks: readonly { call: string }[]): number => {
  const calls = new Set(masks.map(({ call }) => call));
  return rounds.findLast(({ items }) => items.some((item) => item.kind === "result" && calls.has(item.callId)))?.n ?? 0;
};

/** The rounds of a summary stand as that; all others that are out of view, new and old, as one reference for each run of them. */
function snipsOf(
  going: readonly Round[],
  all: readonly Round[],
  { epochs, summary, recalls }: { epochs: OfAgent["epochs"]; summary: Segment | undefined; recalls: boolean },
): Snip[] {
  const isGoing = new Set(going.map(({ n }) => n));
  const inSummary = ({ n }: Round) =>
    (summary && n >= summary.from && n <= summary.to) || snipOf(epochs, n)?.isSummary === true;
  const runs: Round[][] = [[]];
  for (const round of all) {
    if (!isGoing.has(round.n) && !snipOf(epochs, round.n)) continue;
    if (inSummary(round)) runs.push([]);
    else runs.at(-1)!.push(round);
  }
  const references = runs
    .filter((run) => run.some((round) => isGoing.has(round.n)))
    .map((run): Snip => ({ from: run[0]!.n, to: run.at(-1)!.n, text: referenceText(run, recalls) }));
  return summary ? [...references, { ...summary, isSummary: true }] : references;
}

function referenceText(rounds: readonly Round[], recalls: boolean): string {
  const calls = [...callsIn(rounds.flatMap(({ items }) => items)).keys()];
  const [first, last] = [calls[0], calls.at(-1)];
  const which = first === undefined ? "" : `, calls ${first}${last === first ? "" : ` to ${last}`}`;
  const replies = `replies r${rounds[0]!.n} to r${rounds.at(-1)!.n}`;
  const how = recalls ? "recall brings any of them back, by its name or by words" : "they are kept";
  return `[${rounds.length} rounds are left out here to make room: ${replies}${which}; ${how}]`;
}
