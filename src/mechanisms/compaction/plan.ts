// What an epoch leaves out: old results as lines first, the oldest first; whole rounds only where that is not enough. Deep, so that it happens rarely.
import type { Turn, ViewOptions } from "../../loop/seams.ts";
import { type CallPart, type Item, textOf } from "../../models/model.ts";
import { type Cause, type Epoch, type Segment, type Snip, stateOf, type ViewState } from "./events.ts";
import { contentSize, lineFor, type Result, withLine } from "./line.ts";
import { previewsFor } from "./preview.ts";
import { recallTool } from "./recall.ts";
import { callsIn, type Round, roundsOf } from "./rounds.ts";
import type { Sheet } from "./sheet.ts";
import { itemSize, type Measure } from "./size.ts";
import { summaryText } from "./summary.ts";
import { measureOf, roomOf } from "./threshold.ts";
import { masksOf, snipOf, viewThrough } from "./view.ts";

/** Parts of the window that is left beside system prompt and tools. */
const GOAL = 0.1;
const ENOUGH = 0.3;
/** Of a request that did not fit, whatever the window was thought to be. */
const GOAL_OF_OVERFLOW = 0.4;
const ENOUGH_OF_OVERFLOW = 0.8;
/** What a request may come to. */
const FULL = 0.85;
/** The last rounds stay whole. */
const KEPT_ROUNDS = 3;

export interface Planning {
  items: readonly Item[];
  state: ViewState;
  window: number;
  measure: Measure;
  cause: Cause;
  /** Tools whose results go last. */
  keeps: readonly string[];
  recalls: boolean;
  /** Characters that the sheet has for what was said: rounds with more of it want a summary. */
  room: number;
}

export function planningOf(items: readonly Item[], turn: Turn, opts: ViewOptions & { cause: Cause }): Planning {
  const state = stateOf(turn);
  const window = turn.model.limits.contextTokens;
  const measure = measureOf(items, state, opts);
  const [keeps, recalls, room] = [opts.keeps(), opts.offers(recallTool), roomOf(measure, window)];
  return { items, state, window, measure, cause: opts.cause, keeps, recalls, room };
}

/** What is to go. */
export interface EpochDraft {
  masks: Epoch["masks"];
  /** Whole rounds, the oldest first. */
  rounds: Round[];
  /** Of these the sheet cannot say all, and the model has their originals in view. */
  summarise?: Pick<Segment, "from" | "to">;
  before: number;
}

/** Contract: undefined where nothing can be left out. */
export function draftEpoch(planning: Planning): EpochDraft | undefined {
  const { items, state, measure } = planning;
  const before = measure.tokens(viewThrough(items, state.epochs));
  const { goal, enough } = goalsOf(planning, before);
  const results = maskable(planning);
  const { masks, saved } = asMany(results.others, before - goal, measure);
  const wants = before - saved > enough || masks.length === 0;
  let rounds = wants ? roundsToGo(planning, masks, { goal, kept: KEPT_ROUNDS }) : [];
  if (overBy(planning, { masks, rounds, before }) > 0) rounds = roundsToGo(planning, masks, { goal, kept: 1 });
  if (masks.length === 0 && rounds.length === 0) masks.push(...asMany(results.kept, before - goal, measure).masks);
  masks.push(...previewsFor(planning, overBy(planning, { masks, rounds, before })));
  if (masks.length === 0 && rounds.length === 0) return undefined;
  const fits = planning.cause !== "overflow" && before <= FULL * planning.window;
  const summarise = fits ? worthSummary(rounds, planning) : undefined; // else there is no room to ask
  return { masks, rounds, before, ...(summarise && { summarise }) };
}

/** How many tokens too many there would be still. Where that is more than none what is kept otherwise goes too. */
function overBy(planning: Planning, { masks, rounds, before }: EpochDraft): number {
  const { items, state, window, measure, cause } = planning;
  const isLast = cause === "overflow" && masks.length === 0 && rounds.length === 0;
  const snips = rounds.map(({ n }) => ({ from: n, to: n, text: "" }));
  const left = measure.tokens(viewThrough(items, [...state.epochs, { seq: 0, masks, snips }]));
  return left - (isLast ? goalsOf(planning, before).goal : FULL * window);
}

function goalsOf({ window, measure, cause, state }: Planning, before: number): { goal: number; enough: number } {
  const free = Math.max(0, window - measure.fixed);
  const goal = measure.fixed + GOAL * free;
  const enough = measure.fixed + ENOUGH * free;
  if (cause === "asked")
    return { goal: measure.fixed, enough: state.asked?.focus === undefined ? goal : measure.fixed };
  if (cause === "window") return { goal, enough };
  const shown = Math.max(0, before - measure.fixed);
  return {
    goal: Math.min(goal, measure.fixed + GOAL_OF_OVERFLOW * shown),
    enough: Math.min(enough, measure.fixed + ENOUGH_OF_OVERFLOW * shown),
  };
}

interface Maskable {
  call: string;
  name: string;
  line: string;
  /** Characters that its line would be shorter. */
  size: number;
}

/** Results that a model call has carried, the oldest first; those that hold for all that follows apart. */
function maskable({ items, state, keeps, recalls }: Planning): { others: Maskable[]; kept: Maskable[] } {
  const known = masksOf(state.epochs);
  const calls = callsIn(items);
  // What is before the last reply, a model call has carried.
  const seen = shownRounds(items, state.epochs).slice(0, -1);
  const open = seen
    .flatMap((round) => round.items)
    .flatMap((item) => {
      if (item.kind !== "result" || known.has(item.callId)) return [];
      return withItsLine(item, calls.get(item.callId), recalls) ?? [];
    });
  const isKept = ({ name }: { name: string }) => keeps.includes(name);
  return { others: open.filter((one) => !isKept(one)), kept: open.filter(isKept) };
}

function asMany(open: readonly Maskable[], wanted: number, measure: Measure) {
  const masks: Epoch["masks"] = [];
  let saved = 0;
  for (const { call, line, size } of open) {
    if (saved >= wanted) break;
    masks.push({ call, line });
    saved += measure.tokensOf(size);
  }
  return { masks, saved };
}

/** Undefined: its line would be hardly shorter, and worse to read. */
function withItsLine(item: Result, call: CallPart | undefined, recalls: boolean): Maskable | undefined {
  const line = lineFor(item, { call, recalls });
  if (contentSize(item.content) < 2 * line.length) return undefined;
  return { call: item.callId, name: item.name, line, size: itemSize(item) - itemSize(withLine(item, line)) };
}

/** The oldest rounds that are still shown, as many as it takes. */
function roundsToGo(
  { items, state, measure }: Planning,
  masks: Epoch["masks"],
  { goal, kept }: { goal: number; kept: number },
): Round[] {
  const epochs = [...state.epochs, { seq: 0, masks, snips: [] }];
  const lines = masksOf(epochs);
  const shownSize = (item: Item) => {
    const line = item.kind === "result" ? lines.get(item.callId) : undefined;
    return line === undefined ? itemSize(item) : line.length;
  };
  let tokens = measure.tokens(viewThrough(items, epochs));
  const rounds: Round[] = [];
  for (const round of shownRounds(items, state.epochs).slice(0, -kept)) {
    if (tokens <= goal) break;
    rounds.push(round);
    tokens -= measure.tokensOf(round.items.reduce((sum, item) => sum + shownSize(item), 0));
  }
  return rounds;
}

const shownRounds = (items: readonly Item[], epochs: ViewState["epochs"]): Round[] =>
  roundsOf(items).rounds.filter(({ n }) => !snipOf(epochs, n));

/** Those at the end of which nothing was left out before: the model sees what they were, and what is said of them is from that. */
function worthSummary(rounds: readonly Round[], { state, room }: Planning): EpochDraft["summarise"] {
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

export type PlannedEpoch = Omit<Epoch, "seq" | "tokens"> & { tokens: { before: number; after: number } };

/** `sheet`: of the rounds that are out of view then. */
export async function epochOf(
  draft: EpochDraft,
  { items, state, measure, recalls }: Planning,
  { summary, sheet }: { summary: Segment | undefined; sheet: (hidden: readonly Round[]) => Promise<Sheet | undefined> },
): Promise<PlannedEpoch> {
  const { rounds, before } = draft;
  const all = roundsOf(items).rounds;
  const gone = new Set(callsIn(rounds.flatMap((round) => round.items)).keys());
  const masks = draft.masks.filter(({ call }) => !gone.has(call));
  const snips = snipsOf(rounds, all, { epochs: state.epochs, summary, recalls });
  const made = await sheet(all.filter(({ n }) => snipOf([...state.epochs, { seq: 0, masks, snips }], n)));
  const after = Math.max(rounds.at(-1)?.n ?? 0, lastMasked(all, masks));
  const epoch = { masks, snips, ...(made && { sheet: { after, ...made } }) };
  const view = viewThrough(items, [...state.epochs, { ...epoch, seq: 0 }]);
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
  { epochs, summary, recalls }: { epochs: ViewState["epochs"]; summary: Segment | undefined; recalls: boolean },
): Snip[] {
  const numbers = new Set(going.map(({ n }) => n));
  const isGoing = ({ n }: Round) => numbers.has(n);
  const inSummary = ({ n }: Round) =>
    (summary && n >= summary.from && n <= summary.to) || snipOf(epochs, n)?.isSummary === true;
  const runs: Round[][] = [[]];
  for (const round of all) {
    if (!isGoing(round) && !snipOf(epochs, round.n)) continue;
    if (inSummary(round)) runs.push([]);
    else runs.at(-1)!.push(round);
  }
  const references = runs
    .filter((run) => run.some(isGoing))
    .map((run): Snip => ({ from: run[0]!.n, to: run.at(-1)!.n, text: referenceText(run, recalls) }));
  return summary ? [...references, { ...summary, text: summaryText(summary), isSummary: true }] : references;
}

function referenceText(rounds: readonly Round[], recalls: boolean): string {
  const calls = [...callsIn(rounds.flatMap(({ items }) => items)).keys()];
  const [first, last] = [calls[0], calls.at(-1)];
  const which = first === undefined ? "" : `, calls ${first}${last === first ? "" : ` to ${last}`}`;
  const replies = `replies r${rounds[0]!.n} to r${rounds.at(-1)!.n}`;
  const how = recalls ? "recall brings any of them back, by its name or by words" : "they are kept";
  return `[${rounds.length} rounds are left out here to make room: ${replies}${which}; ${how}]`;
}
