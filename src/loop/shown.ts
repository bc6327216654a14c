// A fingerprint of what a model was shown of the conversation: recorded with its reply, so that a later build can be held to the same bytes.
import { createHash, type Hash } from "node:crypto";
import type { Item } from "../models/model.ts";
import type { Turn } from "./seams.ts";

interface Known {
  items: Item[];
  hash: Hash;
}

/** By agent: the last conversation that was hashed. The next one usually begins with it. */
const known = new WeakMap<Turn, Known>();

/** Contract: the same for the same items, however it came to them; what no wire carries makes no difference. */
export function shownHash(turn: Turn, items: readonly Item[]): string {
  const before = known.get(turn);
  const isLonger =
    before !== undefined && before.items.length <= items.length && before.items.every((item, i) => item === items[i]);
  const at: Known = isLonger ? before : { items: [], hash: createHash("sha256") };
  for (const item of items.slice(at.items.length)) {
    at.hash.update(`${JSON.stringify(wireOf(item))}\n`);
    at.items.push(item);
  }
  known.set(turn, at);
  return at.hash.copy().digest("hex").slice(0, 16);
}

/** What adapters write. */
function wireOf(item: Item): unknown {
  switch (item.kind) {
    case "user":
      return ["user", item.content];
    case "reply":
      return ["reply", item.model, item.parts];
    case "result":
      return ["result", item.callId, item.name, item.content, item.isError];
  }
}
