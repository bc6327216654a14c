// How one request differs from another: up to where they are the same, and what was left out, masked, changed and added behind that.
import type { RecordedRequest } from "../../loop/recorded-request.ts";
import { type Item, sameWriting, type ToolSpec } from "../../models/model.ts";
import { type RequestPiece, requestPiece, textBytes } from "./pieces.ts";

export interface Compared {
  /** Set where another model was asked, or the same one with other settings. */
  model?: { from: string | undefined; to: string | undefined };
  tools: { added: string[]; removed: string[]; changed: string[]; isReordered: boolean };
  /** Blocks of the system prompt, counted from 1. */
  system: { changed: number[]; added: number[]; removed: number[] };
  messages: {
    /** How many at the beginning are the same. */
    same: number;
    leftOut: RequestPiece[];
    /** Results that a line stands for, or again the whole: by their sizes. */
    masked: { piece: RequestPiece; from: number; to: number }[];
    shownAgain: { piece: RequestPiece; from: number; to: number }[];
    added: RequestPiece[];
  };
  /** Of the second request, about: what is the first one's beginning too, in the order in which providers cache (tools, system prompt, messages), and the rest. */
  bytes: { kept: number; anew: number };
  /** The second is the first with more behind it, or the same. */
  isExtension: boolean;
}

export function compareRequests(from: RecordedRequest, to: RecordedRequest): Compared {
  const tools = comparedTools(from.request.tools, to.request.tools);
  const system = comparedSystem(from.request.system, to.request.system);
  const messages = comparedItems(from.request.items, to.request.items);
  const isOther = from.model !== to.model || !sameWriting(from.wire, to.wire);
  const sameTools = tools.added.length + tools.removed.length + tools.changed.length === 0 && !tools.isReordered;
  const sameSystem = system.changed.length + system.added.length + system.removed.length === 0;
  const kept = isOther || !sameTools ? 0 : keptBytes(from, to, sameSystem ? messages.same : undefined);
  return {
    ...(isOther && { model: { from: from.model, to: to.model } }),
    ...{ tools, system, messages },
    bytes: { kept, anew: requestSize(to) - kept },
    isExtension: !isOther && sameTools && sameSystem && messages.same === from.request.items.length,
  };
}

const toolBytes = new WeakMap<readonly ToolSpec[], number>();

function sizeOfTools(tools: readonly ToolSpec[]): number {
  let bytes = toolBytes.get(tools);
  if (bytes === undefined) {
    bytes = textBytes(JSON.stringify(tools));
    toolBytes.set(tools, bytes);
  }
  return bytes;
}

const sum = (sizes: readonly number[]): number => sizes.reduce((all, one) => all + one, 0);
const sizeOfItems = (items: readonly Item[]): number => sum(items.map((item) => requestPiece(item).bytes));

/** About: of its texts, without what the wire puts around them. */
export const requestSize = ({ request: { tools, system, items } }: RecordedRequest): number =>
  sizeOfTools(tools) + sum(system.map(textBytes)) + sizeOfItems(items);

/** `same`: how many messages; undefined where the system prompt before them differs already. */
function keptBytes(from: RecordedRequest, to: RecordedRequest, same: number | undefined): number {
  const { tools, system, items } = to.request;
  const blocks = system.findIndex((text, i) => text !== from.request.system[i]);
  const shared = system.slice(0, blocks < 0 ? system.length : blocks);
  return sizeOfTools(tools) + sum(shared.map(textBytes)) + (same === undefined ? 0 : sizeOfItems(items.slice(0, same)));
}

function comparedTools(from: readonly ToolSpec[], to: readonly ToolSpec[]): Compared["tools"] {
  const before = new Map(from.map((tool) => [tool.name, JSON.stringify(tool)]));
  const after = new Map(to.map((tool) => [tool.name, JSON.stringify(tool)]));
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const changed = [...after].flatMap(([name, spec]) => (before.has(name) && before.get(name) !== spec ? [name] : []));
  const stay = (names: Iterable<string>) => [...names].filter((name) => before.has(name) && after.has(name)).join("\0");
  return { added, removed, changed, isReordered: stay(before.keys()) !== stay(after.keys()) };
}

function comparedSystem(from: readonly string[], to: readonly string[]): Compared["system"] {
  const shared = Math.min(from.length, to.length);
  const numbers = (begin: number, end: number) => Array.from({ length: end - begin }, (_, i) => begin + i + 1);
  return {
    changed: numbers(0, shared).filter((n) => from[n - 1] !== to[n - 1]),
    added: numbers(shared, to.length),
    removed: numbers(shared, from.length),
  };
}

function comparedItems(from: readonly Item[], to: readonly Item[]): Compared["messages"] {
  let same = 0;
  while (same < from.length && same < to.length && isSame(from[same]!, to[same]!)) same++;
  const before = byRef(from.slice(same));
  const after = byRef(to.slice(same));
  const found: Compared["messages"] = { same, leftOut: [], masked: [], shownAgain: [], added: [] };
  for (const [key, item] of before) if (!after.has(key)) found.leftOut.push(requestPiece(item));
  for (const [key, item] of after) {
    const old = before.get(key);
    const piece = requestPiece(item);
    if (!old) found.added.push(piece);
    else if (!isSame(old, item)) {
      const sizes = { piece, from: requestPiece(old).bytes, to: piece.bytes };
      (sizes.to < sizes.from ? found.masked : found.shownAgain).push(sizes);
    }
  }
  return found;
}

const isSame = (a: Item, b: Item): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** What has no reference of its own is known by its text. */
const byRef = (items: readonly Item[]): Map<string, Item> =>
  new Map(
    items.map((item) => {
      const { ref, about } = requestPiece(item);
      return [ref === "note" ? `note ${about}` : ref, item];
    }),
  );
