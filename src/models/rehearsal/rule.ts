// A rule of the grammar, and its patterns: regular expressions that are built when they are first asked for, for most runs need few.
import type { Clause } from "./clauses.ts";
import type { Before, Intent } from "./request.ts";

export interface GrammarRule {
  /** Without one of these words it is no such request: its patterns need not be built. */
  hint?: RegExp;
  /** Patterns in each language, with named groups. */
  en: string[];
  ja: string[];
  /** What the groups come to. Undefined: it is no such request after all. */
  build(at: Partial<Record<string, string>>, clause: Clause, before: Before): Intent | Intent[] | undefined;
}

const built = new Map<string, RegExp>();

/** Contract: never with `g` for `exec` or `test`, which would go on where the last one stopped. */
export function pattern(source: string, flags = "is"): RegExp {
  const key = `${flags}/${source}`;
  const known = built.get(key) ?? new RegExp(source, flags);
  built.set(key, known);
  return known;
}

export const raw = String.raw;

/** A quotation in a clause: it stands as one mark. */
export const QUOTED = raw`\uE000\d+\uE001`;
export const isQuoted = (word: string): boolean => pattern(`^${QUOTED}$`).test(word);

/** "one, two and three", or lines with bullets. */
export const itemsIn = (clause: Clause, text: string): string[] =>
  text
    .split(/\n+|[,;、]\s*(?:and\s+)?|\s+and\s+/)
    .map((item) => clause.plain(item.replace(/^\s*(?:[-*•・]|\d+[.)])\s*/, "").trim()))
    .filter((item) => item !== "");
