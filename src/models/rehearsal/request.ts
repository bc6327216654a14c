// Understanding of a request: text in, a list of intents out. Whatever is not understood is named, never guessed.

import { clausesOf } from "./clauses.ts";
import { readClause } from "./grammar.ts";
import { wordsToKeep } from "./rules-knowledge.ts";
import { joinTeams } from "./rules-team.ts";

export type Lang = "en" | "ja";

export interface Mate {
  name: string;
  role?: string;
}

/** Parts of one undertaking that may come in several clauses: they are joined, for the later ones need the earlier ones' results. */
export interface Team {
  kind: "team";
  /** How many tasks to create; `subjects` only when the user named them. */
  tasks: number;
  subjects?: string[];
  worktrees: boolean;
  /** To be spawned. */
  mates: Mate[];
  /** Whose plans are wanted; empty: everyone's. */
  plans?: string[];
}

export type Intent =
  /** `items` only when the user named them. */
  | { kind: "todo"; subject: string; items?: string[] }
  /** `label` is how a person would call the files; empty means all of them. */
  | { kind: "list"; files: { label: string; pattern: string; path?: string } }
  | { kind: "read"; path: string }
  | { kind: "run"; command: string; background: boolean }
  | { kind: "search"; text: string; path?: string }
  | { kind: "framework" }
  | { kind: "subtask"; prompt: string }
  | { kind: "write"; path: string; content: string }
  | { kind: "edit"; path: string; oldText: string; newText: string; all: boolean }
  | { kind: "remind"; when: string; what: string }
  /** `query`: what is then searched for with its own tool. */
  | { kind: "server"; server: string; query?: string }
  | { kind: "skill"; name: string }
  /** The user's own, as they stand. */
  | { kind: "remember"; words: string }
  | { kind: "recall" }
  | Team
  /** No names: the one that waits; `*`: all that wait. */
  | { kind: "review"; names: string[]; approve: boolean; feedback?: string }
  /** No names: everyone. */
  | { kind: "shutdown"; names: string[]; reason?: string }
  | { kind: "message"; to: string; content: string }
  /** "and tell me the result": every answer does that anyway. */
  | { kind: "report" };

export type IntentOf<Kind extends Intent["kind"]> = Extract<Intent, { kind: Kind }>;

/** What there is to do: a report is what every answer is. */
export type RequestedWork = Exclude<Intent, { kind: "report" }>;

export interface Request {
  lang: Lang;
  intents: Intent[];
  /** The first part that was not understood. Nothing after it is done: it may depend on it. */
  unknown?: string;
}

/** What a clause may refer back to. */
export interface Before {
  /** The file named last: "write a.txt with x, then read it". */
  file?: string;
  /** Tasks or teammates were spoken of: "create worktrees for them". */
  team?: boolean;
}

/** The one read last: each round of a turn asks for the same. */
let latest: { text: string; request: Request } | undefined;

/** Contract: pure. */
export function understand(text: string): Request {
  if (latest?.text !== text) latest = { text, request: read(text) };
  return structuredClone(latest.request);
}

function read(text: string): Request {
  const { lang, clauses } = clausesOf(text);
  const words = wordsToKeep(text);
  if (words !== undefined) return { lang, intents: [{ kind: "remember", words }] };
  const intents: Intent[] = [];
  const before: Before = {};
  for (const clause of clauses) {
    const found = readClause(clause, before);
    if (!found) return { lang, intents: joinTeams(intents), unknown: quotation(clause.raw(clause.text)) };
    const [first] = found;
    const last = intents.at(-1);
    if (last?.kind === "server" && last.query === undefined && first?.kind === "search" && first.path === undefined) {
      last.query = first.text; // "connect to it and search for x": there
      continue;
    }
    intents.push(...found.filter((intent) => !isRepeatedRead(intent, intents.at(-1))));
    const file = found.findLast((i) => "path" in i && i.kind !== "search");
    if (file && "path" in file) before.file = file.path;
    before.team ||= found.some((i) => i.kind === "team");
  }
  return intents.length > 0 ? { lang, intents: joinTeams(intents) } : { lang, intents, unknown: quotation(text) };
}

/** What somebody wrote, quoted in an answer. */
export const quotation = (text: string): string => (text.length > 200 ? `${text.trim().slice(0, 200)}…` : text.trim());

/** "Read it and sum it up": one read does both. */
const isRepeatedRead = (intent: Intent, last: Intent | undefined): boolean =>
  intent.kind === "read" && last?.kind === "read" && intent.path === last.path;

const CONTINUE =
  /^(?:please )?(?:continue|go on|go ahead|carry on|proceed|resume|keep going)(?: (?:please|with (?:it|that|the work)|the work|from where you (?:stopped|left off)))*$/i;
const CONTINUE_JA =
  /^(?:そのまま)?(?:続け|つづけ|続き|続行|再開)(?:を|から)?(?:して|て)?(?:ください|下さい|お願いします)?$/;

/** "continue" is no new request: it asks for the rest of the one before. */
export function isContinuation(text: string): boolean {
  const plain = text.trim().replace(/[.!。！…]+$/, "");
  return plain === "" || CONTINUE.test(plain) || CONTINUE_JA.test(plain);
}
