// What no request has room for in any other way: its beginning and end are shown, and how to see the rest. Results of the last message first, then what was said.
import { itemName } from "../../loop/item-names.ts";
import { type Item, textOf } from "../../models/model.ts";
import { cutText, cutTextTail } from "../../text/cut.ts";
import type { Epoch, ViewState } from "./events.ts";
import { roundsOf } from "./rounds.ts";
import { itemSize, type Measure } from "./size.ts";
import { masksOf, snipOf } from "./view.ts";

const HEAD = 1_500;
const TAIL = 500;

/** Contract: as many as make `over` tokens of room, the largest first. */
export function previewsFor(
  { items, state, measure }: { items: readonly Item[]; state: ViewState; measure: Measure },
  over: number,
): Epoch["masks"] {
  if (over <= 0) return [];
  const known = masksOf(state.epochs);
  const { rounds, rest } = roundsOf(items);
  const shown = rounds.filter(({ n }) => !snipOf(state.epochs, n));
  const results = (shown.at(-1)?.items ?? []).filter(({ kind }) => kind === "result");
  const said = [...shown.flatMap((round) => round.items), ...rest].filter((item) => item.kind === "user" && !item.note);
  const isOpen = (item: Item) => !known.has(itemName(item)) && itemSize(item) > 2 * (HEAD + TAIL);
  const largest = (some: Item[]) => some.filter(isOpen).sort((a, b) => itemSize(b) - itemSize(a));
  const masks: Epoch["masks"] = [];
  let saved = 0;
  for (const item of [...largest(results), ...largest(said)]) {
    if (saved >= over) break;
    masks.push({ call: itemName(item), line: previewOf(item) });
    saved += measure.tokensOf(itemSize(item) - HEAD - TAIL);
  }
  return masks;
}

function previewOf(item: Item): string {
  const text = item.kind === "reply" ? "" : textOf(item.content);
  const why = item.kind === "result" ? "because the results of this round do not fit" : "because it does not fit";
  const left = `${text.length - HEAD - TAIL} of ${text.length} characters left out, ${why}`;
  return `${cutText(text, HEAD)}\n[… ${left}; recall ${itemName(item)}, by parts …]\n${cutTextTail(text, TAIL)}`;
}
