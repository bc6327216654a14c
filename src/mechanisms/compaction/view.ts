// What the model is shown: the conversation with masked results as lines, snipped rounds as their text, and the last sheet at its break.
import { itemName } from "../../loop/item-names.ts";
import type { Item } from "../../models/model.ts";
import type { Epoch, Snip } from "./events.ts";
import { withLine } from "./line.ts";
import { roundsOf } from "./rounds.ts";

type Epochs = readonly Epoch[];

/** The lines by call, of every epoch: made anew only when one begins. */
const byCall = new WeakMap<Epochs, Map<string, string>>();

export function masksOf(epochs: Epochs): ReadonlyMap<string, string> {
  let masks = byCall.get(epochs);
  if (!masks) {
    masks = new Map(epochs.flatMap((epoch) => epoch.masks.map(({ call, line }) => [call, line] as const)));
    byCall.set(epochs, masks);
  }
  return masks;
}

/** The text that stands for a round: of two that have it the later one. */
export const snipOf = (epochs: Epochs, n: number): Snip | undefined =>
  epochs.findLast(({ snips }) => snips.some((snip) => has(snip, n)))?.snips.find((snip) => has(snip, n));

const has = ({ from, to }: Pick<Snip, "from" | "to">, n: number): boolean => n >= from && n <= to;

/** What epochs have changed ends at an item; what comes behind it is shown as it is. */
interface Frozen {
  of: readonly Item[];
  count: number;
  last: Item | undefined;
  shown: readonly Item[];
}
const frozen = new WeakMap<Epochs, Frozen>();

/**
 * Contract: the same items for the same facts, one by one: adapters remember them by identity. What it costs grows with what is shown, not
 * with the conversation.
 */
export function viewThrough(items: readonly Item[], epochs: Epochs): readonly Item[] {
  if (epochs.length === 0) return items;
  let past = frozen.get(epochs);
  // A restore gives other epochs; the same ones stand for the same past.
  if (!past || past.of !== items || items[past.count - 1] !== past.last) {
    past = freeze(items, epochs);
    frozen.set(epochs, past);
  }
  return [...past.shown, ...items.slice(past.count)];
}

function freeze(items: readonly Item[], epochs: Epochs): Frozen {
  const masks = masksOf(epochs);
  const sheet = epochs.findLast((epoch) => epoch.sheet)?.sheet;
  const snipped = Math.max(0, ...epochs.flatMap(({ snips }) => snips.map(({ to }) => to)));
  const { rounds, rest } = roundsOf(items);
  const isMasked = (item: Item) => masks.has(itemName(item));
  const masked = rounds.findLast((round) => round.items.some(isMasked));
  // What no reply has answered yet, where it is too long.
  const late = rest.slice(0, rest.findLastIndex(isMasked) + 1);
  const end = late.length > 0 ? Number.POSITIVE_INFINITY : Math.max(snipped, sheet?.after ?? 0, masked?.n ?? 0);
  const shown: Item[] = [];
  const told = new Set<Snip>();
  let count = 0;
  let isTold = false;
  const tell = () => {
    if (sheet) shown.push(...sheetItems(sheet));
    isTold = true;
  };
  for (const { n, items: own } of rounds) {
    if (!isTold && sheet && n > sheet.after) tell();
    if (n > end) break;
    count += own.length;
    const snip = snipOf(epochs, n);
    if (!snip) shown.push(...own.map((item) => withMask(item, masks)));
    else if (!told.has(snip)) {
      told.add(snip);
      shown.push(textItem(snip));
    }
  }
  if (!isTold) tell();
  shown.push(...late.map((item) => withMask(item, masks)));
  count += late.length;
  return { of: items, count, last: items[count - 1], shown };
}

function withMask(item: Item, masks: ReadonlyMap<string, string>): Item {
  const line = masks.get(itemName(item));
  return line === undefined || item.kind === "reply" ? item : withLine(item, line);
}

/** What somebody asked for is not what the runtime says: it stands in no result. */
function sheetItems(sheet: NonNullable<Epoch["sheet"]>): Item[] {
  const { asked } = sheet;
  let item = askedOf.get(sheet);
  if (!item && asked !== undefined) {
    item = { kind: "user", content: [{ type: "text", text: asked }] };
    askedOf.set(sheet, item);
  }
  return item ? [textItem(sheet), item] : [textItem(sheet)];
}

const askedOf = new WeakMap<object, Item>();
const made = new WeakMap<object, Item>();

function textItem(of: { text: string }): Item {
  let item = made.get(of);
  if (!item) {
    item = { kind: "user", content: [{ type: "text", text: of.text }], note: true, withResults: true };
    made.set(of, item);
  }
  return item;
}
