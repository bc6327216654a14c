// The door to the shell grammar: loading the parser on first use, and refusing what no one should have to read.
import type { ParsedScript, Function as ShellFunction } from "unbash";
import { LIMITS } from "../evaluation.ts";

export type FunctionNode = ShellFunction;
export type Parse = (source: string) => ParsedScript;

let loaded: Parse | undefined;

/** The parser takes 30 ms to load: only the first command pays. */
export async function loadParser(): Promise<Parse> {
  loaded ??= (await import("unbash")).parse;
  return loaded;
}

/** Once loaded. */
export function parseShell(source: string): ParsedScript {
  if (!loaded) throw new Error("the shell grammar is not loaded: call loadParser first");
  return loaded(source);
}

const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
/** Spaces that are part of a word for the shell, marks that change the order of what people read, and what they cannot see. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is refused by itself
  /[\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff]/;
const PLAIN_EMOJI = /\p{Extended_Pictographic}\ufe0f?/gu;

/** Why the text is not even parsed, or undefined. */
export function unreadable(command: string): string | undefined {
  if (command.length > LIMITS.chars) return `the command is longer than ${LIMITS.chars} characters`;
  if (command.includes("\0")) return "the command contains a NUL byte";
  if (CONTROL.test(command)) return "the command contains control characters";
  const bare = command.replace(PLAIN_EMOJI, "").replace(/[\u{10000}-\u{e0000}]/gu, "");
  if (INVISIBLE.test(bare)) return "the command contains spaces or marks that a reader cannot see";
  if (nesting(command) > LIMITS.nesting) return "the command is nested too deeply";
  return undefined;
}

/** Counts brackets without reading quotes: what this lets through, the parser takes quickly. */
function nesting(command: string): number {
  let [depth, deepest] = [0, 0];
  for (const c of command) {
    if (c === "(" || c === "{") deepest = Math.max(deepest, ++depth);
    else if (c === ")" || c === "}") depth = Math.max(0, depth - 1);
  }
  return deepest;
}
