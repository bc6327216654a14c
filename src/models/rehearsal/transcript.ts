// Reading of a transcript: what was asked, what has been done since, what arrived meanwhile, who is in the team. Keeps nothing between calls.
import { type Content, type Item, type ResultItem, textOf } from "../model.ts";
import { isContinuation } from "./request.ts";

export interface CallResult {
  text: string;
  isError: boolean;
  exitCode?: number;
}

/** A call that was made, and what came of it. */
export interface MadeCall {
  name: string;
  input: unknown;
  result: CallResult;
}

export interface TranscriptNote {
  from: string;
  /** What it says, in a word of the runtime's. */
  kind?: string;
  text: string;
}

export interface Transcript {
  /** What to work on: the last request, and those it was added to while they were under way. */
  requests: string[];
  /** Asked and never taken up, because another request came at once. */
  passedOver: string[];
  /** The calls made for these requests, in order. */
  made: MadeCall[];
  /** The texts given as answers to these requests. */
  answers: string[];
  /** Notes that no answer has spoken of. */
  notes: TranscriptNote[];
  /** Somebody has spoken since the last answer. */
  asked: boolean;
}

const NOTHING: Transcript = { requests: [], passedOver: [], made: [], answers: [], notes: [], asked: false };

/** What happened in a transcript, in order. */
export type Happened =
  /** `busy`: it came while work was under way. */
  | { kind: "heard"; words: string; notes: TranscriptNote[]; busy: boolean }
  | { kind: "made"; made: MadeCall[] }
  | { kind: "answered"; text: string };

export function happenedIn(items: readonly Item[]): Happened[] {
  const results = new Map(items.flatMap((item) => (item.kind === "result" ? [[item.callId, item]] : [])));
  let busy = false;
  return items.flatMap((item): Happened[] => {
    if (item.kind === "user") return [{ kind: "heard", ...heardIn(item.content), busy }];
    busy = item.kind === "result" && item.stopped === undefined;
    if (item.kind === "result") return [];
    const calls = item.parts.filter((part) => part.type === "call");
    if (calls.length === 0) return [{ kind: "answered", text: textOf(item.parts) }];
    // What never ran is made again.
    const ran = calls.filter(({ id }) => results.get(id)?.stopped !== "before");
    return [
      { kind: "made", made: ran.map(({ id, name, input }) => ({ name, input, result: resultOf(results.get(id)) })) },
    ];
  });
}

const NOTE = /^<note from="(?<from>[^"]*)"(?: kind="(?<kind>\w+)")?>\n?(?<text>[\s\S]*?)\n?<\/note>$/;
export const NO_RESULT: CallResult = { text: "No result was recorded.", isError: true };

export function readTranscript(happened: readonly Happened[]): Transcript {
  let now = NOTHING;
  for (const one of happened) {
    if (one.kind === "heard") now = hear(now, one);
    else if (one.kind === "made") now = { ...now, made: [...now.made, ...one.made] };
    else now = { ...now, answers: [...now.answers, one.text], notes: [], asked: false };
  }
  return now;
}

type Heard = Extract<Happened, { kind: "heard" }>;

function hear(now: Transcript, heard: Heard): Transcript {
  const { words, notes } = forLead(heard);
  const next = { ...now, notes: [...now.notes, ...notes] };
  if (words === "" && notes.length > 0) return next;
  if (isContinuation(words)) return { ...next, asked: true };
  if (heard.busy) return { ...next, requests: [...now.requests, words], asked: true };
  const unanswered = now.answers.length === 0 && now.made.length === 0;
  const passedOver = unanswered ? [...now.passedOver, ...now.requests] : [];
  return { ...NOTHING, requests: [words], passedOver, notes: next.notes, asked: true };
}

function resultOf(item: ResultItem | undefined): CallResult {
  if (!item) return NO_RESULT;
  const { name, content, isError, exitCode } = item;
  const text = textOf(content);
  // One line in brackets stands for a list that was left out to save room, which must not be taken for an empty one.
  const leftOut = /^(?:glob|grep)$/.test(name) && /^\[[^\n]*\]$/.test(text.trim());
  return { text, isError: isError || leftOut, ...(exitCode !== undefined && { exitCode }) };
}

/** What was said, and the notes beside it. */
function heardIn(content: readonly Content[]): { words: string; notes: TranscriptNote[] } {
  const notes: TranscriptNote[] = [];
  const words: string[] = [];
  for (const part of content) {
    if (part.type !== "text") continue;
    // A note is a whole part: nothing inside it, whatever it looks like, is a request.
    const note = NOTE.exec(part.text.trim())?.groups;
    if (note) notes.push({ from: note.from ?? "", kind: note.kind, text: note.text?.trim() ?? "" });
    else words.push(part.text);
  }
  return { words: instructionIn(words.join("\n").trim()), notes };
}

/** A child is given its prompt in the hub's template: only the instruction is a request. */
function instructionIn(text: string): string {
  if (!text.startsWith("# Role\n")) return text;
  return /\n# Instruction\n+([\s\S]*?)(?=\n+# [^\n]*\n|$)/.exec(text)?.[1]?.trim() ?? text;
}

/** To a lead a message of the user's is a request like any other: the runtime says whose it is. */
function forLead({ words, notes }: Pick<Heard, "words" | "notes">): { words: string; notes: TranscriptNote[] } {
  const sent = notes.filter(({ from }) => from === "user").map(({ text }) => text);
  return { words: [words, ...sent].filter(Boolean).join("\n"), notes: notes.filter(({ from }) => from !== "user") };
}

export interface ClaimedTask {
  id: string;
  subject: string;
}

export interface PlanRequest {
  name: string;
  id: string;
  plan: string;
}

/** A note of the team itself, by the kind that it says it is. The ids in it are the team's protocol; its sentences are not read. */
export interface TeamNote {
  kind: string;
  id: string;
  /** Whose request it is. */
  name: string;
  /** Of a task: its subject. Of a decision: why. */
  about: string;
  plan: string;
}

export const PLAN_TOOL = /\bsubmit_plan\b/;
const ID = /\b(?:plan_([\w-]+)_|shutdown_|task_)\w+/;

/** Contract: a message that looks like one has no authority. The first line has the id, the last is advice; what is between is quoted. */
export function readTeamNote({ from, kind, text }: TranscriptNote): TeamNote | undefined {
  if (from !== "team" || kind === undefined) return undefined;
  const [first = "", ...rest] = text.split("\n");
  const [id = "", name = ""] = ID.exec(first) ?? [];
  const quoted = rest.slice(0, -1);
  const about = first.slice(first.indexOf(": ") + 2).trim();
  return {
    kind,
    id,
    name,
    about: [about, ...(kind === "task" ? [] : quoted)].join("\n").trim(),
    plan: quoted.join("\n").trim(),
  };
}

/** What a lead knows of its team. */
export interface Roster {
  mates: string[];
  /** The latest of each teammate that waits for an answer and that the user can have meant. */
  plans: PlanRequest[];
}

/**
 * Contract: a plan that came after the user's last words is not among them: nobody can have decided on it yet. One that a call of
 * the request in hand (`made`) has answered still is, and no later one takes its place: the request is about that one.
 */
export function readRoster(happened: readonly Happened[], made: readonly MadeCall[]): Roster {
  const inHand = new Set(made.filter((one) => one.name === "review_plan").map(requestId));
  const lastWords = happened.findLastIndex((one) => one.kind === "heard" && forLead(one).words !== "");
  const mates = new Set<string>();
  const plans = new Map<string, PlanRequest>();
  for (const [at, one] of happened.entries()) {
    for (const note of one.kind === "heard" && at <= lastWords ? one.notes : []) {
      const read = readTeamNote(note);
      if (read?.kind === "plan" && !inHand.has(plans.get(read.name)?.id ?? "")) plans.set(read.name, read);
    }
    for (const call of one.kind === "made" ? one.made.filter(({ result }) => !result.isError) : []) {
      if (call.name === "spawn_teammate") mates.add(given(call, "name"));
      if (call.name !== "review_plan" || inHand.has(requestId(call))) continue;
      for (const plan of plans.values()) if (plan.id === requestId(call)) plans.delete(plan.name);
    }
  }
  return { mates: [...mates], plans: [...plans.values()] };
}

const given = ({ input }: MadeCall, key: "name" | "request_id"): string => {
  const { [key]: value }: Partial<Record<typeof key, unknown>> = input ?? {};
  return typeof value === "string" ? value : "";
};

const requestId = (call: MadeCall): string => given(call, "request_id");

/** Lines of notes from memory: "- name: what". */
export const rememberedIn = (happened: readonly Happened[]): string[] =>
  happened.flatMap((one) =>
    one.kind === "heard"
      ? one.notes
          .filter(({ from }) => from === "memory")
          .flatMap(({ text }) => [...text.matchAll(/^- (.+)$/gm)].map(([, line = ""]) => line))
      : [],
  );
