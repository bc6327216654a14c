// The reading of a transcript: what was asked, what has been done since, what arrived meanwhile. Keeps nothing between calls.
import { type Content, type Item, textOf } from "../model.ts";
import { isContinuation } from "./request.ts";

export interface Recorded {
  name: string;
  input: unknown;
  outcome: ResultOutcome;
}

export interface ResultOutcome {
  text: string;
  isError: boolean;
}

export interface SituationNote {
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
  notes: SituationNote[];
  /** What came after the last answer. */
  latest: "request" | "continuation" | "note" | "nothing";
}

/** Such a call is made again when the work goes on. */
const NEVER_RAN = /^Not run: the turn was interrupted/;
const NOTE = /^<note from="([^"]*)">\n?([\s\S]*?)\n?<\/note>$/;

export function situationOf(items: readonly Item[]): Situation {
  const results = outcomesOf(items);
  let now = fresh();
  let previous: Item | undefined;
  for (const item of items) {
    if (item.kind === "user") now = hear(now, item.content, underWay(previous));
    else if (item.kind === "reply") now = remember(now, item, results);
    if (item.kind !== "user") previous = item;
  }
  return now;
}

export type Results = ReadonlyMap<string, ResultOutcome>;

/** By the id of the call. */
export function outcomesOf(items: readonly Item[]): Results {
  const results = new Map<string, ResultOutcome>();
  for (const item of items) if (item.kind === "result") results.set(item.callId, outcomeOf(item));
  return results;
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

function outcomeOf(result: Extract<Item, { kind: "result" }>): ResultOutcome {
  const text = withoutReminder(textOf(result.content));
  // A list that was left out to save room must not be taken for an empty one.
  const left =
    /^\[(?:result elided|c\d+ \w+: .* left out to make room)/.test(text) && /^(?:glob|grep)$/.test(result.name);
  return { text, isError: result.isError || left };
}

/** A reminder that a mechanism put at the end of a result is no part of what the tool said. */
function withoutReminder(text: string): string {
  const trimmed = text.trimEnd();
  const tag = /<\/([\w-]*reminder)>$/.exec(trimmed.slice(-40))?.[1];
  const start = tag ? trimmed.lastIndexOf(`<${tag}`) : -1;
  return start < 0 ? text : trimmed.slice(0, start);
}

/** What was said, and the notes beside it. */
export function heardIn(content: readonly Content[]): { words: string; notes: SituationNote[] } {
  const notes: SituationNote[] = [];
  const said: string[] = [];
  for (const part of content) {
    if (part.type !== "text") continue;
    // A note is a whole part: nothing inside it, whatever it looks like, is a request.
    const note = NOTE.exec(part.text.trim());
    if (note) notes.push({ from: note[1]!, text: note[2]!.trim() });
    else said.push(part.text);
  }
  return { words: instructionIn(said.join("\n").trim()), notes };
}

const TEMPLATE = /^# Role\n[\s\S]*?\n# Instruction\n+([\s\S]*?)(?=\n+# (?:Shared context|Export|Result)\b[^\n]*\n|$)/;

/** A child is given its prompt in the hub's template: only the instruction is a request. */
const instructionIn = (text: string): string => TEMPLATE.exec(text)?.[1]?.trim() ?? text;

const isUsers = ({ from }: SituationNote): boolean => from === "user";

/** To a lead a message of the user's is a request like any other: the runtime says whose it is. */
export function heardByLead(content: readonly Content[]): { words: string; notes: SituationNote[] } {
  const { words, notes } = heardIn(content);
  const sent = notes.filter(isUsers).map((note) => note.text);
  return { words: [words, ...sent].filter(Boolean).join("\n"), notes: notes.filter((note) => !isUsers(note)) };
}

function hear(now: Situation, content: readonly Content[], busy: boolean): Situation {
  const { words, notes } = heardByLead(content);
  const heard = { ...now, notes: [...now.notes, ...notes] };
  if (words === "" && notes.length > 0) return { ...heard, latest: now.latest === "nothing" ? "note" : now.latest };
  if (isContinuation(words)) return { ...heard, latest: now.latest === "request" ? "request" : "continuation" };
  if (busy) return { ...heard, requests: [...now.requests, words], latest: "request" };
  const unanswered = now.answers.length === 0 && now.recorded.length === 0;
  const passedOver = unanswered ? [...now.passedOver, ...now.requests] : [];
  return { ...fresh(), requests: [words], passedOver, notes: heard.notes, latest: "request" };
}

function remember(now: Situation, reply: Reply, results: Results): Situation {
  const made = callsOf(reply, results);
  if (made) return { ...now, recorded: [...now.recorded, ...made] };
  return { ...now, answers: [...now.answers, textOf(reply.parts)], notes: [], latest: "nothing" };
}

type Reply = Extract<Item, { kind: "reply" }>;

/** The calls of a reply with their outcomes; undefined when it made none, and so was an answer. */
export function callsOf(reply: Reply, results: Results): Recorded[] | undefined {
  const calls = reply.parts.filter((part) => part.type === "call");
  if (calls.length === 0) return undefined;
  return calls
    .map(({ id, name, input }) => ({
      name,
      input,
      outcome: results.get(id) ?? { text: "No result was recorded.", isError: true },
    }))
    .filter(({ outcome }) => !(outcome.isError && NEVER_RAN.test(outcome.text)));
}
