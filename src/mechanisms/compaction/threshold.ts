// When room has to be made: by what the provider counted, and by characters where nothing was.
import type { ViewOptions } from "../../loop/seams.ts";
import type { Item, Model } from "../../models/model.ts";
import type { ViewState } from "./events.ts";
import { grownTotal, type Measure, measureBy, totalOf } from "./size.ts";
import { viewThrough } from "./view.ts";

/** Parts of the window: when an epoch begins, how much has to come between two of them, and what is too much in any case. */
const BEGIN = 0.5;
const GROWN = 0.4;
const LATEST = 0.85;
/** Of the threshold. */
const NEAR = 0.8;

export function thresholdOf(
  { epochs, isUndone, refused }: ViewState,
  { id, limits }: Pick<Model, "id" | "limits">,
): number {
  const window = limits.contextTokens;
  const shown = epochs.at(-1)?.tokens ?? 0;
  const begin = isUndone ? LATEST * window : Math.max(BEGIN * window, shown + GROWN * window);
  // Before it comes to what the model refused.
  const most = refused?.model === id ? Math.min(window, refused.tokens) : window;
  return Math.min(LATEST * most, begin);
}

export const isNear = (tokens: number, threshold: number): boolean => tokens >= NEAR * threshold;

/** Of what came since the last count: rather too much. */
const TOKENS_A_CHARACTER = 0.3;

/** Contract: where something was counted, and before the first epoch, it looks only at what came since, however long the conversation is. */
export function tokensNow(items: readonly Item[], { used, epochs }: ViewState, opts: ViewOptions): number {
  if (used === undefined) {
    const { tokens, tokensOf, fixed } = measureBy(opts, undefined);
    return epochs.length > 0 ? tokens(viewThrough(items, epochs)) : Math.round(fixed + tokensOf(grownTotal(items)));
  }
  const lastReply = items.findLastIndex((item) => item.kind === "reply");
  return used + totalOf(items.slice(lastReply + 1)) * TOKENS_A_CHARACTER;
}

/** By what was counted for the last request, its reply included. */
export function measureOf(items: readonly Item[], { used, epochs }: ViewState, opts: ViewOptions): Measure {
  const lastReply = items.findLastIndex((item) => item.kind === "reply");
  if (used === undefined || lastReply < 0) return measureBy(opts, undefined);
  const view = viewThrough(items, epochs);
  const since = items.length - 1 - lastReply;
  return measureBy(opts, { seen: view.slice(0, view.length - since), tokens: used });
}

/** A tenth of the window for what was asked, and for what was decided: in characters. */
const ROOM = 0.1;

export const roomOf = (measure: Measure, contextTokens: number): number => (ROOM * contextTokens) / measure.tokensOf(1);
