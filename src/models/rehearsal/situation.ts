// Owns the reading of a transcript: what was asked, what has been done since, what arrived meanwhile. Keeps nothing between calls.
import { type Item, textOf } from "../model.ts";
import { isContinuation } from "./request.ts";

export interface Recorded {
  name: string;
  input: unknown;
  outcome: Outcome;
}

export interface Outcome {
  text: string;
  isError: boolean;
}

export interface Note {
  from: string;
  text: string;
}

export interface Situation {
  /** What to work on: the last request, and those it was added to while they were under way. */
  requests: string[];
  /** Asked and never taken up, because another request came at once. */
  passedOver: string[];
  /** The calls made for these requests, in order. */
  recorded: Recorded[];
  /** The texts given as answers to these requests. */
  answers: string[];
  /** Notes that no answer has spoken of. */
  notes: Note[];
  /** What came after the last answer. */
  latest: "request" | "continuation" | "note" | "nothing";
}

/** Reminders that mechanisms put into a result are no part of what the tool said. */
const REMINDER = /\n*<((?:system[-_]|todo[-_])?reminder|note)\b[^>]*>[\s\S]*?<\/\1>/g;
const NOTE = /<note from="([^"]*)">\n?([\s\S]*?)\n?<\/note>/g;

export function situationOf(items: readonly Item[]): Situation {
  const results = new Map<string, Outcome>();
  for (const item of items) {
    if (item.kind === "result")
      results.set(item.callId, { text: textOf(item.content).replace(REMINDER, ""), isError: item.isError });
  }
  let now = fresh();
  let previous: Item | undefined;
  for (const item of items) {
    if (item.kind === "user") now = hear(now, textOf(item.content), underWay(previous));
    else if (item.kind === "reply") now = remember(now, item, results);
    if (item.kind !== "user") previous = item;
  }
  return now;
}

const fresh = (): Situation => ({
  requests: [],
  passedOver: [],
  recorded: [],
  answers: [],
  notes: [],
  latest: "nothing",
});

/** Work that ended neither by an answer nor by an interruption. */
function underWay(previous: Item | undefined): boolean {
  if (previous?.kind !== "result") return false;
  return !(previous.isError && /interrupt|aborted|cancell?ed/i.test(textOf(previous.content)));
}

function hear(now: Situation, text: string, busy: boolean): Situation {
  const notes = [...text.matchAll(NOTE)].map((m) => ({ from: m[1]!, text: m[2]!.trim() }));
  const words = text.replace(NOTE, "").trim();
  const heard = { ...now, notes: [...now.notes, ...notes] };
  if (words === "" && notes.length > 0) return { ...heard, latest: now.latest === "nothing" ? "note" : now.latest };
  if (isContinuation(words)) return { ...heard, latest: now.latest === "request" ? "request" : "continuation" };
  if (busy) return { ...heard, requests: [...now.requests, words], latest: "request" };
  const unanswered = now.answers.length === 0 && now.recorded.length === 0;
  const passedOver = unanswered ? [...now.passedOver, ...now.requests] : [];
  return { ...fresh(), requests: [words], passedOver, notes: heard.notes, latest: "request" };
}

function remember(now: Situation, reply: Extract<Item, { kind: "reply" }>, results: Map<string, Outcome>): Situation {
  const recorded: Recorded[] = [];
  for (const part of reply.parts) {
    if (part.type !== "call") continue;
    const outcome = results.get(part.id) ?? { text: "No result was recorded.", isError: true };
    recorded.push({ name: part.name, input: part.input, outcome });
  }
  if (recorded.length > 0) return { ...now, recorded: [...now.recorded, ...recorded] };
  return { ...now, answers: [...now.answers, textOf(reply.parts)], notes: [], latest: "nothing" };
}
