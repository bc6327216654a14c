// What no request has room for in any other way: its beginning and end are shown, and how to see the rest. Results of the last message first, then what was said.
import { itemName } from "../../loop/item-names.ts";
import { type Item, textOf } from "../../models/model.ts";
import { cutText, cutTextTail } from "../../text/cut.ts";
import type { Epoch, ViewState } from "./events.ts";
import { roundsOf } from "./rounds.ts";
import { itemSize, type Measure } from "./size.ts";
import { masksOf, snipOf } from "./view.ts";

/** How much of its two ends is shown: less where that is not enough. */
const ENDS = [
  { head: 1_500, tail: 500 },
  { head: 250, tail: 100 },
];
type Ends = (typeof ENDS)[number];

/** Contract: as many as make `over` tokens of room, the largest first. */
export function previewsFor(
  { items, state, measure }: { items: readonly Item[]; state: ViewState; measure: Measure },
  over: number,
): Epoch["masks"] {
  const known = masksOf(state.epochs);
  const { rounds, rest } = roundsOf(items);
  const shown = rounds.filter(({ n }) => !snipOf(state.epochs, n));
  const results = (shown.at(-1)?.items ?? []).filter(({ kind }) => kind === "result");
  const said = [...shown.flatMap((round) => round.items), ...rest].filter(({ kind }) => kind === "user");
  const masks = new Map<string, string>();
  let saved = 0;
  for (const ends of ENDS)
    for (const item of [...largest(results), ...largest(said)]) {
      const name = itemName(item);
      if (saved >= over || known.has(name)) continue;
      const left = itemSize(item) - 2 * (ends.head + ends.tail);
      if (left <= 0) continue;
      const before = masks.get(name)?.length ?? itemSize(item);
      masks.set(name, previewOf(item, ends));
      saved += measure.tokensOf(before - ends.head - ends.tail);
    }
  return [...masks].map(([call, line]) => ({ call, line }));
}

const largest = (items: readonly Item[]): Item[] => items.toSorted((a, b) => itemSize(b) - itemSize(a));

function previewOf(item: Item, { head, tail }: Ends): string {
  const text = item.kind === "reply" ? "" : textOf(item.content);
  const why = item.kind === "result" ? "because the results of this round do not fit" : "because it does not fit";
  const left = `${text.length - head - tail} of ${text.length} characters left out, ${why}`;
  return `${cutText(text, head)}\n[… ${left}; recall ${itemName(item)}, by parts …]\n${cutTextTail(text, tail)}`;
}
