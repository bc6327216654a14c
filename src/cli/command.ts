// What a command is: its verbs, the words and flags each takes, and what carries it out. Data; what runs is loaded when it runs.
import { HoldfastError } from "../ledger/error.ts";
import type { FlagTable, Values } from "./flag.ts";

/** The words that are checked to be there; any that may be missing come after them. */
type GivenWords<W extends string> = string extends W
  ? string[]
  : W extends "" | "…" | `[${string}`
    ? string[]
    : W extends `${string} ${infer Rest}`
      ? [string, ...GivenWords<Rest>]
      : [string, ...string[]];

export interface Verb<F extends FlagTable = FlagTable, W extends string = string> {
  /** What follows it: `CONTEXT CHECKPOINT`, `CONTEXT [KEY [PATH]]`, `SUBJECT [FIELD=VALUE …]`; "" takes no word. */
  words: W;
  /** One line. */
  help: string;
  /** Further lines of its own help: what is worth knowing, examples. */
  more?: string;
  flags: F;
  run(flags: Values<F>, words: GivenWords<W>): Promise<number>;
}

export interface Command {
  help: string;
  /** By name, in the order of help. One without a name is what the bare command does, with its words. */
  verbs: Readonly<Record<string, Verb>>;
  /** What the bare command does. */
  bare?: string;
  /** Other words for it that people type. */
  also?: readonly string[];
  more?: string;
}

/** Keeps what `run` is given in step with `flags` and `words`. */
export const verb = <F extends FlagTable, const W extends string>(one: Verb<F, W>): Verb => one as unknown as Verb;

/** What one of the words is: `CONTEXT`, whether it may be missing, whether more may follow. */
export interface CommandWord {
  name: string;
  needed: boolean;
  many: boolean;
}

export function commandWords({ words }: Pick<Verb, "words">): CommandWord[] {
  const found: CommandWord[] = [];
  let depth = 0;
  for (const [part] of words.matchAll(/[[\]]|[^[\]\s]+/g)) {
    const last = found.at(-1);
    if (part === "[") depth++;
    else if (part === "]") depth--;
    else if (part !== "…") found.push({ name: part, needed: depth === 0, many: false });
    else if (last) last.many = true;
  }
  return found;
}

/** Contract: throws when words are missing or too many; says how it is used. */
export function checkWords(name: string, one: Verb, words: readonly string[]): void {
  const wanted = commandWords(one);
  const [first] = wanted;
  const isEmpty = first?.needed && words[0] === "";
  const missing = wanted.filter(({ needed }) => needed)[words.length] ?? (isEmpty ? first : undefined);
  const use = `use: holdfast ${usage(name, one)}`;
  if (missing) throw new HoldfastError("invalid", `${name} needs ${missing.name}: ${use}`);
  if (words.length > wanted.length && !wanted.at(-1)?.many)
    throw new HoldfastError("invalid", `${name} has no use for "${words[wanted.length]}": ${use}`);
}

export const usage = (name: string, { words }: Pick<Verb, "words">): string =>
  words === "" ? name : `${name} ${words}`;
