// What the model sees of a long conversation: a view with references, changed rarely and deeply. The ledger keeps all.
import { HoldfastError } from "../../ledger/error.ts";
import { own } from "../../ledger/own.ts";
import { defineMechanism, type Mechanism, type Turn, type ViewOptions } from "../../loop/seams.ts";
import type { Item } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import { fireHook } from "../hooks/port.ts";
import { compactTool } from "./compact.ts";
import {
  type Cause,
  type CompactionState,
  compactionEvents,
  compactionSlice,
  type OfAgent,
  type Segment,
} from "./events.ts";
import { type Draft, draftEpoch, epochOf, type Planned, type Planning } from "./plan.ts";
import { recallTool } from "./recall.ts";
import { sheetText } from "./sheet.ts";
import { type Measure, measureBy, sizeOf } from "./size.ts";
import { summarise } from "./summary.ts";
import { viewOf } from "./view.ts";

export function compaction(): Mechanism {
  return defineMechanism({
    name: "compaction",
    decides: ["context.compacted", "context.summarised"],
    events: compactionEvents,
    fold: compactionSlice,
    tools: (turn) => (stateOf(turn).epochs.length > 0 ? [compactTool, recallTool] : [compactTool]),
    seams: {
      async context(items, turn, opts) {
        const cause = causeOf(items, turn, opts);
        if (cause) await beginEpoch(items, turn, { ...opts, cause });
        return viewOf(items, stateOf(turn).epochs);
      },
    },
  });
}

const NONE: OfAgent = { epochs: [], summaries: [] };

const stateOf = (turn: Pick<Turn, "slice" | "agent">): OfAgent =>
  own(turn.slice<CompactionState>("compaction"), turn.agent) ?? NONE;

/** Parts of the window: when an epoch begins, how much came since the last one, and what is too much in any case. */
const BEGIN = 0.5;
const GROWN = 0.36;
const LATEST = 0.85;

function causeOf(items: readonly Item[], turn: Turn, opts: ViewOptions): Cause | undefined {
  if (opts.overflow) return "overflow";
  const state = stateOf(turn);
  if (state.asked) return "asked";
  const window = turn.model.limits.contextTokens;
  const last = state.epochs.at(-1)?.tokens ?? 0;
  const begin = state.isUndone
    ? LATEST * window
    : Math.min(LATEST * window, Math.max(BEGIN * window, last + GROWN * window));
  return tokensNow(items, state, opts) >= begin ? "window" : undefined;
}

/** Of what came since the last count: rather too much. */
const TOKENS_A_CHARACTER = 0.3;

/** Contract: where something was counted it looks only at what came since, however long the conversation is. */
function tokensNow(items: readonly Item[], { used, epochs }: OfAgent, opts: ViewOptions): number {
  if (used === undefined) return measureBy(opts, undefined).tokens(viewOf(items, epochs));
  let size = 0;
  for (let at = items.length - 1; at >= 0 && items[at]!.kind !== "reply"; at--) size += sizeOf(items[at]!);
  return used + size * TOKENS_A_CHARACTER;
}

/** By what was counted for the last request, its reply included. */
function measureOf(items: readonly Item[], { used, epochs }: OfAgent, opts: ViewOptions): Measure {
  const lastReply = items.findLastIndex((item) => item.kind === "reply");
  if (used === undefined || lastReply < 0) return measureBy(opts, undefined);
  const since = items.length - 1 - lastReply;
  const view = viewOf(items, epochs);
  return measureBy(opts, { seen: view.slice(0, view.length - since), tokens: used });
}

/** A tenth of the window for what was asked, and for what was decided. */
const ROOM = 0.1;

function planningOf(items: readonly Item[], turn: Turn, opts: ViewOptions & { cause: Cause }): Planning {
  const state = stateOf(turn);
  const window = turn.model.limits.contextTokens;
  const measure = measureOf(items, state, opts);
  const room = (ROOM * window) / measure.tokensOf(1);
  return { items, state, window, measure, cause: opts.cause, keeps: opts.keeps(), recalls: true, room };
}

/** Less than this is no reason to break what is cached. */
const WORTH_IT = 0.9;

async function beginEpoch(items: readonly Item[], turn: Turn, opts: ViewOptions & { cause: Cause }): Promise<void> {
  const planning = planningOf(items, turn, opts);
  const draft = draftEpoch(planning);
  if (!draft) return;
  const summary = await summaryFor(draft, planning, { turn, opts });
  const sheet = (hidden: Parameters<typeof sheetText>[0]["hidden"]) =>
    sheetText({ hidden, items, carried: opts.carry(), room: planning.room });
  const planned = epochOf(draft, planning, { summary, sheet });
  const { before, after } = planned.tokens;
  if (opts.cause === "window" ? after > WORTH_IT * before : after >= before) return;
  await record(turn, planned, opts.cause);
}

/** One that is ready, or asked for now. */
async function summaryFor(
  { summarise: wanted }: Draft,
  { items, state }: Planning,
  { turn, opts }: { turn: Turn; opts: ViewOptions },
): Promise<Segment | undefined> {
  if (!wanted) return undefined;
  const ready = state.summaries.findLast(({ from, to }) => from >= wanted.from && to <= wanted.to);
  const view = viewOf(items, state.epochs);
  const segment = ready ?? (await summarise(turn, opts, { view, wanted, focus: state.asked?.focus }));
  const { from, to, text } = segment;
  return text === "" ? undefined : { from, to, text };
}

async function record(turn: Turn, planned: Planned, cause: Cause): Promise<void> {
  const asked = stateOf(turn).asked;
  const trigger = cause === "asked" ? "manual" : "auto";
  const { blocked } = await fireHook(turn, "PreCompact", { trigger, custom_instructions: asked?.focus ?? null });
  if (blocked !== undefined)
    throw new HoldfastError(
      "refused",
      `the conversation no longer fits, and a PreCompact hook keeps it as it is: ${blocked}`,
    );
  await turn.append([{ type: "context.compacted", data: { cause, ...planned } }]);
  const what = saysOf(planned);
  const why = cause === "asked" ? "room was made" : "the conversation no longer fits";
  turn.emit({ type: "status", text: `${why}: ${what} left out`, recorded: true });
  await fireHook(turn, "PostCompact", { trigger, compact_summary: `${what} left out` });
}

function saysOf({ masks, snips }: Planned): string {
  const rounds = snips.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const parts = [
    ...(masks.length > 0 ? [counted(masks.length, "old tool result")] : []),
    ...(rounds > 0 ? [counted(rounds, "old round")] : []),
  ];
  return `${parts.join(" and ")} ${masks.length + rounds === 1 ? "was" : "were"}`;
}
