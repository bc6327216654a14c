// Front matter of the plainest kind, without YAML: one `key: text` a line where YAML could mean nothing else. Most skills have no other, and the library costs a start tens of milliseconds.
import type { FrontMatter } from "./front-matter.ts";

const FRONT = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/** What stands in front, without the marks around it, and what is behind; undefined: there is none at the beginning. */
export function splitFront(text: string): { inside: string; body: string } | undefined {
  const front = FRONT.exec(text);
  const inside = front?.[1];
  if (!front || inside === undefined || front.index > 0) return undefined;
  return { inside: inside.replaceAll("\r\n", "\n"), body: text.slice(front[0].length) };
}

const LINE = /^([A-Za-z][\w-]*): +(\S.*?) *$/;
/** Begins with a letter, so that it is no number, quote or mark; nothing in it ends it or begins a comment. */
const TEXT = /^\p{L}(?!.*(?::(?:\s|$)|\s#))[^\p{Cc}\u2028\u2029\ufeff]*$/u;
/** Words that are no text, some of them by older rules. */
const WORD = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/** Contract: the same as YAML reads, or undefined: then YAML is to read it. */
export function plainFrontMatter(text: string): FrontMatter | undefined {
  const front = splitFront(text);
  if (!front) return undefined;
  const values: FrontMatter["values"] = {};
  for (const [i, line] of front.inside.split("\n").entries()) {
    if (line === "") continue;
    const [, key, given] = LINE.exec(line) ?? [];
    if (key === undefined || given === undefined || Object.hasOwn(values, key)) return undefined;
    const value = given === "true" ? true : given === "false" ? false : given;
    if (typeof value === "string" && (!TEXT.test(value) || WORD.test(value))) return undefined;
    values[key] = { value, line: i + 2 };
  }
  return Object.keys(values).length === 0 ? undefined : { values, body: front.body, guessed: [] };
}
