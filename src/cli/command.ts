// What a command is: its verbs, the words and flags each takes, and what carries it out. Data; what runs is loaded when it runs.
import { HoldfastError } from "../ledger/error.ts";
import type { FlagTable, Values } from "./flag.ts";

export interface Verb<F extends FlagTable = FlagTable> {
  /** What follows it: `CONTEXT CHECKPOINT`, `CONTEXT [KEY [PATH]]`, `SUBJECT [FIELD=VALUE …]`; "" takes no word. */
  words: string;
  /** One line. */
  help: string;
  /** Further lines of its own help: what is worth knowing, examples. */
  more?: string;
  flags: F;
  run(flags: Values<F>, words: string[]): Promise<number>;
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

/** Keeps what `run` is given in step with `flags`. */
export const verb = <F extends FlagTable>(one: Verb<F>): Verb => one as unknown as Verb;

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
    if (part === "[") depth++;
    else if (part === "]") depth--;
    else if (part === "…") found.at(-1)!.many = true;
    else found.push({ name: part, needed: depth === 0, many: false });
  }
  return found;
}

/** Contract: throws when words are missing or too many; says how it is used. */
export function checkWords(name: string, one: Verb, words: readonly string[]): void {
  const wanted = commandWords(one);
  const missing = wanted.filter(({ needed }) => needed)[words.length];
  const use = `use: holdfast ${usage(name, one)}`;
  if (missing || (wanted[0]?.needed && words[0] === "")) {
    const what = missing ?? wanted[0]!;
    throw new HoldfastError("invalid", `${name} needs ${what.name}: ${use}`);
  }
  if (words.length > wanted.length && !wanted.at(-1)?.many)
    throw new HoldfastError("invalid", `${name} has no use for "${words[wanted.length]}": ${use}`);
}

export const usage = (name: string, { words }: Pick<Verb, "words">): string =>
  words === "" ? name : `${name} ${words}`;
