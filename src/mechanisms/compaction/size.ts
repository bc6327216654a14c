// How large a request is, in tokens: by what the provider counted for the last one, and by characters before there was one.
import type { Item, ReplyPart, ToolSpec } from "../../models/model.ts";

/** Items never change: each is measured once. */
const measured = new WeakMap<Item, number>();

export function itemSize(item: Item): number {
  let size = measured.get(item);
  if (size === undefined) {
    size = item.kind === "reply" ? item.parts.reduce((sum, part) => sum + partSize(part), 20) : contentWeight(item);
    measured.set(item, size);
  }
  return size;
}

const partSize = (part: ReplyPart): number =>
  part.type === "call" ? part.name.length + weigh(JSON.stringify(part.input ?? {})) + 40 : weigh(part.text) + 10;

/** Of a picture or a document, whatever its bytes: about what providers count. */
const PICTURE = 6_000;

const contentWeight = ({ content }: Exclude<Item, { kind: "reply" }>): number =>
  content.reduce((sum, part) => sum + (part.type === "text" ? weigh(part.text) : PICTURE), 20);

/** Characters outside of Latin are a token each, or nearly: they weigh as much as four others. */
const weigh = (text: string): number => text.length + 3 * (text.match(/[\u2e80-\uffff]/g)?.length ?? 0);

export const totalOf = (items: readonly Item[]): number => items.reduce((sum, item) => sum + itemSize(item), 0);

/** By the first item of a conversation: how many of its items were added up last, the last of them, and what they weigh. */
const summed = new WeakMap<Item, { count: number; last: Item; size: number }>();

/** Of a conversation as the ledger has it, which only grows. Contract: only what is new is looked at. */
export function grownTotal(items: readonly Item[]): number {
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last) return 0;
  const before = summed.get(first);
  const isLonger = before !== undefined && items[before.count - 1] === before.last;
  const size = isLonger ? before.size + totalOf(items.slice(before.count)) : totalOf(items);
  summed.set(first, { count: items.length, last, size });
  return size;
}

export interface Measure {
  /** Of the request that shows these items. */
  tokens(items: readonly Item[]): number;
  /** Of a text in it. */
  tokensOf(characters: number): number;
  /** Of what every request carries: system prompt and tools. */
  fixed: number;
}

const GUESS = 0.25;
const [LEAST, MOST] = [0.1, 1.2];

interface EveryRequest {
  system: readonly string[];
  tools: readonly ToolSpec[];
}

/** `last`: what was counted for the request that showed `seen`, its reply included. Contract: within bounds, however odd the count is. */
export function measureBy(carried: EveryRequest, last: { seen: readonly Item[]; tokens: number } | undefined): Measure {
  const fixed = carried.system.reduce((sum, text) => sum + text.length, 0) + toolsSize(carried.tools);
  const seen = last ? fixed + totalOf(last.seen) : 0;
  const ratio = last && seen > 0 ? Math.min(MOST, Math.max(LEAST, last.tokens / seen)) : GUESS;
  return {
    tokens: (items) => Math.round((fixed + totalOf(items)) * ratio),
    tokensOf: (characters) => characters * ratio,
    fixed: fixed * ratio,
  };
}

const sized = new WeakMap<readonly ToolSpec[], number>();

function toolsSize(tools: readonly ToolSpec[]): number {
  let size = sized.get(tools);
  if (size === undefined) {
    size = JSON.stringify(tools).length;
    sized.set(tools, size);
  }
  return size;
}
