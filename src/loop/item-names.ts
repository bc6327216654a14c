// What the parts of a conversation are called: by the counters of their agent, so that no name is given twice, on whatever timeline.
import type { Item } from "../models/model.ts";

/** `c17` a call, `r12` a reply, `u3` something that was said to the agent. */
export const itemName = (item: Item): string =>
  item.kind === "result" ? item.callId : item.kind === "reply" ? `r${item.n}` : `u${item.n}`;

/** Contract: of two timelines of one agent, how many items both begin with. After the first that differs all do, for no name is given twice. */
export function sharedItems(a: readonly Item[], b: readonly Item[]): number {
  let [low, high] = [0, Math.min(a.length, b.length)];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSame(a[middle]!, b[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A result that came later is not the one that stands in for it. */
const isSame = (a: Item, b: Item): boolean =>
  a === b || (a.kind === b.kind && itemName(a) === itemName(b) && standsIn(a) === standsIn(b));

export const standsIn = (item: Item): boolean => item.kind === "result" && item.standsIn === true;
