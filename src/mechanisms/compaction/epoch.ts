// An epoch begins: what goes, what stands there instead, and who is told.
import { crashPoint } from "../../ledger/crash-point.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Turn, ViewOptions } from "../../loop/seams.ts";
import type { Item } from "../../models/model.ts";
import { fireHook } from "../hooks/port.ts";
import { type Cause, stateOf } from "./events.ts";
import { draftEpoch, epochOf, type PlannedEpoch, type Planning, planningOf } from "./plan.ts";
import { assumedText, compactedText, leftOut } from "./says.ts";
import { type SheetParts, sheetOf } from "./sheet.ts";
import type { Summaries } from "./summaries.ts";
import { masksOf } from "./view.ts";

/** What a hook said, by agent: while this process holds it. */
export type HookRefusals = WeakMap<Turn, string>;

/** Of what is shown beside system prompt and tools: less than that is no reason to break what is cached. */
const WORTH_IT = 0.8;
/** Of the window. */
const LEAST_ROOM = 0.03;

export async function beginEpoch(
  items: readonly Item[],
  turn: Turn,
  opts: ViewOptions & { cause: Cause; summaries: Summaries; refusals: HookRefusals },
): Promise<void> {
  const planning = planningOf(items, turn, opts);
  const draft = draftEpoch(planning);
  if (!draft) return;
  const masked = [...masksOf(planning.state.epochs).keys(), ...draft.masks.map(({ call }) => call)];
  const sheet = (hidden: SheetParts["hidden"]) =>
    sheetOf({
      ...{ hidden, masked, items, turn: turn.state.turn, carry: opts.carry },
      window: planning.window / planning.measure.tokensOf(1),
    });
  const bare = await epochOf(draft, planning, { summary: undefined, sheet });
  if (!isWorthIt(bare, planning)) return;
  const summary = draft.summarise && (await opts.summaries.of(draft.summarise, turn, opts));
  const planned = summary ? await epochOf(draft, planning, { summary, sheet }) : bare;
  if (isWorthIt(planned, planning)) await record(turn, planned, opts);
}

function isWorthIt({ tokens }: PlannedEpoch, { measure: { fixed }, window, cause }: Planning): boolean {
  if (cause !== "window") return tokens.after < tokens.before;
  const saved = tokens.before - tokens.after;
  return saved >= LEAST_ROOM * window && tokens.after - fixed < WORTH_IT * (tokens.before - fixed);
}

/** A hook that keeps the conversation as it is does so while it fits: then the work goes on, and is not asked about again in this process. */
async function record(
  turn: Turn,
  planned: PlannedEpoch,
  { cause, refusals }: { cause: Cause; refusals: HookRefusals },
): Promise<void> {
  const focus = stateOf(turn).asked?.focus ?? null;
  const trigger = cause === "asked" ? "manual" : "auto";
  const { blocked } = await fireHook(turn, "PreCompact", { trigger, custom_instructions: focus });
  if (blocked !== undefined) {
    refusals.set(turn, blocked);
    if (cause !== "overflow")
      return turn.emit({ type: "status", text: `a PreCompact hook keeps the conversation as it is: ${blocked}` });
    throw new HoldfastError(
      "refused",
      `the conversation no longer fits, and a PreCompact hook keeps it as it is: ${blocked}`,
    );
  }
  refusals.delete(turn);
  const data = { cause, ...(cause === "overflow" && { model: turn.model.id }), ...planned };
  crashPoint("compaction.planned");
  await turn.append([{ type: "context.compacted", data }]);
  crashPoint("compaction.recorded");
  turn.emit({ type: "status", text: compactedText(data), recorded: true });
  const { id, limits } = turn.model;
  if (limits.isAssumed && cause !== "asked" && stateOf(turn).epochs.length === 1)
    turn.emit({ type: "status", text: assumedText(id, limits.contextTokens) });
  await fireHook(turn, "PostCompact", { trigger, compact_summary: leftOut(data) });
}
