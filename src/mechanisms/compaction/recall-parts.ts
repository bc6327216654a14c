// What an agent's conversation consists of, by name: that of now, and what restores have left behind, which the marks of checkpoints keep.
import { own } from "../../ledger/own.ts";
import { itemName } from "../../loop/item-names.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { CallPart, Item } from "../../models/model.ts";

export interface Recallable {
  ref: string;
  item: Item;
  isAbandoned: boolean;
}

export interface Recallables {
  /** The newest first. */
  list: readonly Recallable[];
  byRef: ReadonlyMap<string, Recallable>;
  /** What was asked, by the name of the call. */
  calls: ReadonlyMap<string, CallPart>;
}

/** Contract: empty for an agent that is not there. What it costs grows with the conversation; nothing is kept. */
export function recallablesOf(state: ContextState, agent: string): Recallables {
  const items = own(state.agents, agent)?.items ?? [];
  const byRef = new Map<string, Recallable>();
  const calls = new Map<string, CallPart>();
  const add = (item: Item, isAbandoned: boolean) => {
    byRef.set(itemName(item), { ref: itemName(item), item, isAbandoned });
    if (item.kind !== "reply") return;
    for (const part of item.parts) if (part.type === "call") calls.set(part.id, part);
  };
  for (const item of items) add(item, false);
  const left = abandonedOf(state, agent, byRef);
  for (const item of left) add(item, true);
  const list = left.length === 0 ? [...byRef.values()].reverse() : newestFirst([...byRef.values()]);
  return { list, byRef, calls };
}

/** The items of other timelines. Where only a stand-in is in the conversation of now, the result that came after all is one of them. */
function abandonedOf({ marks = {} }: ContextState, agent: string, now: ReadonlyMap<string, Recallable>): Item[] {
  const seen = new Set<string>();
  for (const { item } of now.values()) seen.add(keyOf(item));
  const saved = Object.values(marks)
    .map((at) => own(at, agent)?.saved ?? [])
    .sort((a, b) => b.length - a.length);
  const found: Item[] = [];
  for (const timeline of saved) {
    // What stands before an item is the same on every timeline that has it: from one that is known on, all are.
    const from = timeline.findLastIndex((item) => seen.has(keyOf(item))) + 1;
    for (const item of timeline.slice(from)) {
      seen.add(keyOf(item));
      if (item.kind !== "result" || !item.standsIn) found.push(item);
    }
  }
  return found;
}

const keyOf = (item: Item): string =>
  item.kind === "result" && item.standsIn ? `${item.callId} stands in` : itemName(item);

/** By the round that each belongs to: replies are counted over all timelines. */
function newestFirst(entries: readonly Recallable[]): Recallable[] {
  const replyOf = new Map<string, number>();
  for (const { item } of entries)
    if (item.kind === "reply")
      for (const part of item.parts) if (part.type === "call") replyOf.set(part.id, item.n ?? 0);
  const placed: { entry: Recallable; round: number }[] = [];
  let said: Recallable[] = [];
  let last = 0;
  for (const entry of entries) {
    const { item } = entry;
    if (item.kind === "user") {
      said.push(entry);
      continue;
    }
    const round = item.kind === "reply" ? (item.n ?? 0) : (replyOf.get(item.callId) ?? last);
    if (item.kind === "reply") {
      placed.push(...said.map((one) => ({ entry: one, round })));
      said = [];
    }
    placed.push({ entry, round });
    last = round;
  }
  placed.push(...said.map((entry) => ({ entry, round: last + 0.5 })));
  return placed
    .sort((a, b) => a.round - b.round)
    .map(({ entry }) => entry)
    .reverse();
}
