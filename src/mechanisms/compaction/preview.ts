// Results of the last message that no request has room for, the largest first: their beginning and end are shown, and how to see the rest.
import { type Item, textOf } from "../../models/model.ts";
import { cutText, cutTextTail } from "../../text/cut.ts";
import type { Epoch } from "./events.ts";
import type { Result } from "./line.ts";
import { itemSize, type Measure } from "./size.ts";

const HEAD = 1_500;
const TAIL = 500;

/** Contract: only of results behind the last reply; `wanted` in tokens. */
export function previewsFor(items: readonly Item[], wanted: number, measure: Measure): Epoch["masks"] {
  const unseen = items
    .slice(items.findLastIndex(({ kind }) => kind === "reply") + 1)
    .filter((item): item is Result => item.kind === "result" && itemSize(item) > 2 * (HEAD + TAIL))
    .sort((a, b) => itemSize(b) - itemSize(a));
  const masks: Epoch["masks"] = [];
  let saved = 0;
  for (const item of unseen) {
    if (saved >= wanted) break;
    masks.push({ call: item.callId, line: previewOf(item) });
    saved += measure.tokensOf(itemSize(item) - HEAD - TAIL);
  }
  return masks;
}

function previewOf({ callId, content }: Result): string {
  const text = textOf(content);
  return `${cutText(text, HEAD)}\n[… ${text.length - HEAD - TAIL} of ${text.length} characters left out, because the results of this round do not fit; recall ${callId}, by parts …]\n${cutTextTail(text, TAIL)}`;
}
