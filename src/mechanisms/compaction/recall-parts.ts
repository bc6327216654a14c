// The parts of an agent's conversation: that of now, and what restores have left behind, which the marks of checkpoints keep. Nothing is copied:
// a conversation may be long, and most of it is not what is looked for.
import { own } from "../../ledger/own.ts";
import { itemName, sharedItems, standsIn } from "../../loop/item-names.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { CallPart, Item } from "../../models/model.ts";

/** The items of a timeline from `from` on: what stands before is another one's too. */
interface Timeline {
  items: readonly Item[];
  from: number;
  isAbandoned: boolean;
}

/** The first is that of now. */
export type RecallTimelines = readonly Timeline[];

export interface Part {
  item: Item;
  isAbandoned: boolean;
  /** Of a result: what was asked. */
  call?: CallPart;
}

/** Contract: that of now alone, and empty, for an agent that is not there. */
export function timelinesOf({ agents, marks = {} }: ContextState, agent: string): RecallTimelines {
  const found: Timeline[] = [{ items: own(agents, agent)?.items ?? [], from: 0, isAbandoned: false }];
  const saved = Object.values(marks)
    .map((at) => own(at, agent)?.saved ?? [])
    .sort((a, b) => b.length - a.length);
  for (const items of saved) {
    const from = Math.max(...found.map((known) => sharedItems(known.items, items)));
    if (from < items.length) found.push({ items, from, isAbandoned: true });
  }
  return found;
}

/** A result that came after all comes before one that only stands in for it. */
export function partNamed(timelines: RecallTimelines, ref: string): Part | undefined {
  const isNamed = namedBy(ref);
  let instead: Part | undefined;
  for (const { items, from, isAbandoned } of timelines) {
    for (let at = items.length - 1; at >= from; at--) {
      const item = items[at]!;
      if (!isNamed(item)) continue;
      const part = partAt(items, at, isAbandoned);
      if (!standsIn(item)) return part;
      instead ??= part;
    }
  }
  return instead;
}

/** Without making the names of all others. */
function namedBy(ref: string): (item: Item) => boolean {
  if (ref.startsWith("c")) return (item) => item.kind === "result" && item.callId === ref;
  const n = Number(ref.slice(1));
  return (item) => item.kind !== "result" && item.n === n && itemName(item) === ref;
}

/** A call of which no result is recorded. */
export function openCall(timelines: RecallTimelines, ref: string): CallPart | undefined {
  for (const { items } of timelines) {
    const call = callIn(replyAt(items, items.length - 1), ref);
    if (call) return call;
  }
  return undefined;
}

/** Every part once, the newest first, as far as somebody reads on. */
export function* newestFirst(timelines: RecallTimelines): Generator<Part> {
  const open = timelines.map((timeline) => {
    const rounds = roundsBackwards(timeline);
    return { timeline, rounds, next: rounds.next() };
  });
  for (;;) {
    // Replies are counted over all timelines: the round with the highest number is the newest.
    let newest: (typeof open)[number] | undefined;
    for (const one of open)
      if (!one.next.done && (!newest || one.next.value.n > (newest.next.value?.n ?? 0))) newest = one;
    if (!newest || newest.next.done) return;
    const { from, to } = newest.next.value;
    const { items, isAbandoned } = newest.timeline;
    for (let at = to - 1; at >= from; at--) if (!standsIn(items[at]!)) yield partAt(items, at, isAbandoned);
    newest.next = newest.rounds.next();
  }
}

/** A round: what was said, the reply, its results. What no reply has answered yet is newer than the last one. */
function* roundsBackwards({ items, from }: Timeline): Generator<{ n: number; from: number; to: number }, undefined> {
  let end = items.length;
  while (end > from) {
    let at = end - 1;
    while (at > from && items[at]!.kind === "user") at--; // said after the last reply
    while (at > from && items[at]!.kind !== "reply") at--;
    const n = replyAt(items, at)?.n ?? 0;
    let start = at;
    while (start > from && items[start - 1]!.kind === "user") start--;
    yield { n, from: start, to: end };
    end = start;
  }
  return undefined;
}

function partAt(items: readonly Item[], at: number, isAbandoned: boolean): Part {
  const item = items[at]!;
  const call = item.kind === "result" ? callIn(replyAt(items, at), item.callId) : undefined;
  return call ? { item, isAbandoned, call } : { item, isAbandoned };
}

/** That one, or the last before it. */
function replyAt(items: readonly Item[], at: number): Extract<Item, { kind: "reply" }> | undefined {
  for (let i = at; i >= 0; i--) {
    const item = items[i]!;
    if (item.kind === "reply") return item;
  }
  return undefined;
}

function callIn(reply: Extract<Item, { kind: "reply" }> | undefined, callId: string): CallPart | undefined {
  for (const part of reply?.parts ?? []) if (part.type === "call" && part.id === callId) return part;
  return undefined;
}
