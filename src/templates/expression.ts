// What may stand between {{ and }}: a path and three filters. There are no operators and no calls.
import { didYouMean, problem, quotedSource, type Source } from "./source.ts";

export type Key = string | number;

export interface Path {
  at: number;
  keys: Key[];
  /** As it is written canonically: `a.b[0]["c d"]`. */
  name: string;
}

export type Filter = { name: "default" | "join"; text: string } | { name: "json" };

export interface Expression {
  at: number;
  path: Path;
  filters: Filter[];
}

export type TextPiece = string | Expression;

/** Turns raw text of the file into what it means (entities, in POML). */
export type Decode = (raw: string, at: number) => string;

export interface Cursor {
  source: Source;
  at: number;
  end: number;
  decode: Decode;
}

const SPACE = /\s*/y;
const NAME = /[\p{L}_$][\p{L}\p{M}\p{N}_$]*/uy;
const STRING = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'/y;
const INDEX = /(?:0|[1-9]\d{0,8})(?=\s*\])/y;
const FILTERS = ["default", "join", "json"];
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

const ALLOWED =
  'Only paths such as context.items[0]["a key"] and the filters default, join and json are allowed; nothing is evaluated.';

/** Cuts text into literals and expressions; `\{{` is a literal `{{`. */
export function parsePieces(source: Source, start: number, end: number, decode: Decode): TextPiece[] {
  const text = source.text.slice(start, end);
  const pieces: TextPiece[] = [];
  let from = 0;
  const literal = (to: number, tail: string): void => {
    const piece = decode(text.slice(from, to), start + from) + tail;
    if (piece !== "") pieces.push(piece);
  };
  for (let open = text.indexOf("{{"); open !== -1; open = text.indexOf("{{", from)) {
    let slashes = 0;
    while (open - slashes > from && text[open - slashes - 1] === "\\") slashes++;
    const escaped = slashes % 2 === 1;
    literal(open - slashes, "\\".repeat(slashes >> 1) + (escaped ? "{{" : ""));
    from = open + 2;
    if (escaped) continue;
    const cursor = { source, at: start + from, end, decode };
    pieces.push(parseExpression(cursor, start + open));
    from = cursor.at - start;
  }
  literal(text.length, "");
  return pieces;
}

function parseExpression(c: Cursor, open: number): Expression {
  const close = (): boolean => c.source.text.startsWith("}}", c.at) && c.at + 2 <= c.end;
  skipSpace(c);
  if (close()) throw problem(c.source, open, "there is nothing between {{ and }}", ALLOWED);
  const path = parsePath(c, ALLOWED);
  const filters: Filter[] = [];
  for (skipSpace(c); !close(); skipSpace(c)) {
    if (c.at >= c.end)
      throw problem(c.source, open, "this {{ has no }}", "Close it, or write \\{{ for the two braces.");
    if (eat(c, /\|/y) === undefined) throw unexpected(c, ALLOWED);
    skipSpace(c);
    filters.push(parseFilter(c, filters));
  }
  c.at += 2;
  return { at: open, path, filters };
}

function parseFilter(c: Cursor, before: Filter[]): Filter {
  const at = c.at;
  const name = eat(c, NAME);
  if (name === undefined) throw unexpected(c, ALLOWED);
  if (name !== "default" && name !== "join" && name !== "json") {
    throw problem(c.source, at, `there is no filter ${quotedSource(name)}${didYouMean(name, FILTERS)}`, ALLOWED);
  }
  if (before.some((f) => f.name === name))
    throw problem(c.source, at, `the filter ${name} is given twice`, "Keep one.");
  skipSpace(c);
  const colon = eat(c, /:/y) !== undefined;
  if (name === "json") {
    if (colon) throw problem(c.source, at, "the filter json takes nothing", "Write | json without a colon.");
    return { name };
  }
  skipSpace(c);
  const text = colon ? eatString(c) : undefined;
  if (text === undefined) throw problem(c.source, c.at, `the filter ${name} takes a text`, `Write | ${name}: "…".`);
  return { name, text };
}

/** A path at the cursor, such as `a.b[0]["c d"]`. */
export function parsePath(c: Cursor, advice: string): Path {
  const at = c.at;
  const keys: Key[] = [];
  for (;;) {
    const from = c.at;
    let key: Key | undefined;
    if (eat(c, /\[\s*/y) !== undefined) {
      key = eatString(c);
      // A path begins with a name; a number has nothing to count in.
      if (key === undefined && keys.length > 0) {
        const digits = eat(c, INDEX);
        if (digits !== undefined) key = Number(digits);
      }
      if (key === undefined || eat(c, /\s*\]/y) === undefined) throw unexpected(c, advice);
    } else if (keys.length === 0 || eat(c, /\./y) !== undefined) {
      key = eat(c, NAME);
      if (key === undefined) throw unexpected(c, advice);
    } else {
      return { at, keys, name: pathName(keys) };
    }
    if (FORBIDDEN.has(String(key))) {
      const advice = "Rename the property: these names lead out of the data.";
      throw problem(c.source, from, `${quotedSource(String(key))} is not allowed in a path`, advice, {
        code: "refused",
      });
    }
    keys.push(key);
  }
}

export function pathName(keys: readonly Key[]): string {
  let name = "";
  for (const key of keys) {
    if (typeof key === "number") name += `[${key}]`;
    else if (/^[\p{L}_$][\p{L}\p{M}\p{N}_$]*$/u.test(key)) name += name === "" ? key : `.${key}`;
    else name += `[${JSON.stringify(key)}]`;
  }
  return name;
}

export function unexpected(c: Cursor, advice: string): Error {
  const character = c.at < c.end ? String.fromCodePoint(c.source.text.codePointAt(c.at)!) : undefined;
  const what =
    character === undefined ? "something is missing at the end" : `${quotedSource(character)} is not expected here`;
  return problem(c.source, c.at, what, advice);
}

export function eat(c: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = c.at;
  const found = pattern.exec(c.source.text)?.[0];
  if (found === undefined || c.at + found.length > c.end) return undefined;
  c.at += found.length;
  return found;
}

export const eatName = (c: Cursor): string | undefined => eat(c, NAME);

export function skipSpace(c: Cursor): void {
  SPACE.lastIndex = c.at;
  c.at = Math.min(c.end, c.at + (SPACE.exec(c.source.text)?.[0].length ?? 0));
}

/** A quotedSource text at the cursor; `\n \t \\ \" \'` and `\uXXXX` are its escapes. */
export function eatString(c: Cursor): string | undefined {
  const at = c.at;
  const raw = eat(c, STRING);
  if (raw === undefined) return undefined;
  return c.decode(raw.slice(1, -1), at + 1).replace(/\\(u[0-9a-fA-F]{4}|.)/gu, (_, mark: string) => {
    if (mark.length > 2) return String.fromCharCode(Number.parseInt(mark.slice(1), 16));
    if (mark === "n") return "\n";
    if (mark === "t") return "\t";
    if (/["'\\]/.test(mark)) return mark;
    throw problem(c.source, at, `there is no escape \\${mark}`, "Use \\n, \\t, \\\\, \\\", \\' or \\uXXXX.");
  });
}
