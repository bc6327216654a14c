// The bytes of a transcript: each round encodes only what is new and sends the rest again as it is.
import type { Item } from "./model.ts";

/** A request's body: the middle is large and mostly the same as last time. */
export interface Body {
  head: string;
  middle: Buffer;
  tail: string;
}

const FIRST_CAPACITY = 16_384;
const NOTHING = Buffer.alloc(0);

interface Grown {
  items: Item[];
  /** After so many items the text ended here: where another transcript may branch off. */
  ends: { count: number; length: number }[];
  bytes: Buffer;
  length: number;
}

/**
 * Bytes of the first `to` items. Contract: `render` gives the text of items `from` to `to`, whatever follows them.
 * Bytes that were handed out are never written to again: a request may still be on its way with them.
 */
export function createGrowingBytes(
  render: (items: readonly Item[], from: number, to: number) => string,
): (items: readonly Item[], to: number) => Buffer {
  const known = new WeakMap<Item, Grown>();
  return (items, to) => {
    const first = items[0];
    if (first === undefined || to === 0) return NOTHING;
    let grown = known.get(first);
    if (!grown) {
      grown = { items: [], ends: [], bytes: Buffer.allocUnsafeSlow(FIRST_CAPACITY), length: 0 };
      known.set(first, grown);
    }
    const common = commonLength(grown.items, items, to);
    if (common < grown.items.length) branchOff(grown, common);
    const from = grown.items.length;
    if (from < to) {
      append(grown, render(items, from, to));
      for (const item of items.slice(from, to)) grown.items.push(item);
      grown.ends.push({ count: to, length: grown.length });
    }
    return grown.bytes.subarray(0, grown.length);
  };
}

function commonLength(a: readonly Item[], b: readonly Item[], to: number): number {
  const end = Math.min(a.length, to);
  let i = 0;
  while (i < end && a[i] === b[i]) i++;
  return i;
}

function branchOff(grown: Grown, common: number): void {
  while ((grown.ends.at(-1)?.count ?? 0) > common) grown.ends.pop();
  const { count, length } = grown.ends.at(-1) ?? { count: 0, length: 0 };
  const kept = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, length * 2));
  grown.bytes.copy(kept, 0, 0, length);
  grown.bytes = kept;
  grown.length = length;
  grown.items.length = count;
}

function append(grown: Grown, text: string): void {
  const size = Buffer.byteLength(text);
  const needed = grown.length + size;
  if (needed > grown.bytes.length) {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, grown.bytes.length * 2));
    grown.bytes.copy(larger, 0, 0, grown.length);
    grown.bytes = larger;
  }
  grown.bytes.write(text, grown.length, "utf8");
  grown.length = needed;
}
