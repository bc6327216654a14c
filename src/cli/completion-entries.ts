// What can be completed: commands, their verbs, flags and words, as the scripts of the shells need them. From the tables.
import { own } from "../ledger/own.ts";
import { type Command, commandWords, type Verb } from "./command.ts";
import { type Flag, type FlagTable, spellingsOf } from "./flag.ts";
import { PROMPT } from "./table/prompt.ts";
import { COMMANDS } from "./table.ts";

/** Things with ids that can be asked for, by the word that stands for one in the tables. */
const IDS = {
  CONTEXT: "context",
  "CONTEXT|FILE": "context",
  REQUEST: "request",
  PLAN: "plan",
  JOB: "job",
  TASK: "task",
  WORKTREE: "worktree",
  CHECKPOINT: "checkpoint",
  AGENT: "agent",
} as const;
export type CompletedId = (typeof IDS)[keyof typeof IDS];
export const ID_KINDS: readonly CompletedId[] = [...new Set(Object.values(IDS))];

/** What follows a flag, or stands as a word: one of these values, an id, a path, or what only a person knows. */
export type CompletionKind = { values: readonly string[] } | CompletedId | "file" | "folder" | "anything";

export const isIdKind = (kind: CompletionKind): kind is CompletedId => ID_KINDS.some((one) => one === kind);

export interface FlagEntry {
  names: string[];
  short?: string;
  help: string;
  takes?: CompletionKind;
}

export interface CompletionEntry {
  /** `contexts restore`; a command without verbs by its name alone, the prompt by "". */
  name: string;
  help: string;
  flags: FlagEntry[];
  /** What its words are, in order. */
  words: CompletionKind[];
}

export const commandEntries = (): [name: string, command: Command][] => Object.entries(COMMANDS);

export const verbNames = ({ verbs }: Command): string[] => Object.keys(verbs).filter(Boolean);

export const completionEntries = (): CompletionEntry[] => [
  entryOf("", PROMPT),
  ...commandEntries().flatMap(([name, { verbs, bare }]) => [
    ...Object.entries(verbs).flatMap(([word, verb]) =>
      word === bare && !Object.hasOwn(verbs, "") ? [entryOf(name, verb)] : [],
    ),
    ...Object.entries(verbs).map(([word, verb]) => entryOf(word === "" ? name : `${name} ${word}`, verb)),
  ]),
];

const entryOf = (name: string, verb: Verb): CompletionEntry => ({
  name,
  help: verb.help,
  flags: flagEntries(verb.flags),
  words: commandWords(verb).map((word) => kindOf(word.name)),
});

const flagEntries = (flags: FlagTable): FlagEntry[] =>
  Object.entries(flags)
    .filter(([, flag]) => !flag.idle)
    .flatMap(([key, flag]) => {
      const { help, short } = flag;
      const shown = spellingsOf(key, flag).filter(({ hidden }) => !hidden);
      const names = shown.filter(({ means }) => means === undefined).map(({ name }) => name);
      const own = { names, help, ...(short && { short }), ...(flag.argument && { takes: argumentOf(flag) }) };
      const switches = shown.filter(({ means }) => means !== undefined);
      return [own, ...switches.map(({ name }) => ({ names: [name], help }))];
    });

const argumentOf = ({ values, argument = "" }: Flag): CompletionKind => (values ? { values } : kindOf(argument));

function kindOf(name: string): CompletionKind {
  const ids = own(IDS, name);
  if (ids) return ids;
  if (/\bFILE\b/.test(name)) return "file";
  if (/\bDIR\b/.test(name)) return "folder";
  const choices = name.split("|");
  return choices.length > 1 ? { values: choices } : "anything";
}

/** As they are typed. */
export const dashed = ({ names, short }: FlagEntry): string[] => [
  ...(short ? [`-${short}`] : []),
  ...names.map((name) => `--${name}`),
];

/** Every flag that is followed by something, with what that is; one name means the same everywhere. */
export function flagArguments(): Map<string, CompletionKind> {
  const all = completionEntries().flatMap(({ flags }) => flags);
  return new Map(
    all.flatMap(({ takes, ...flag }) => (takes ? dashed(flag).map((name) => [name, takes] as const) : [])),
  );
}
