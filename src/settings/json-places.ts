// Reads JSON with comments by the library jsonc-parser, and says in people's words where it breaks and what to do.
import type { JSONVisitor, ParseErrorCode } from "jsonc-parser";
import { quoted } from "./quoted.ts";

export interface TextPlace {
  line: number;
  column: number;
}

export type JsonPath = readonly PropertyKey[];

interface JsonProblem {
  path: JsonPath;
  place: TextPlace;
  says: string;
}

export interface JsonText {
  /** Undefined when the text is not JSON: then there is exactly one problem. Objects have no prototype. */
  value: unknown;
  problems: JsonProblem[];
  /** Where the value at this path begins; of what is not there, where the nearest thing around it begins. */
  valuePlace(path: JsonPath): TextPlace;
  /** Where its key stands. */
  keyPlace(path: JsonPath): TextPlace;
}

/** Deeper than any settings, shallower than the stack. */
export const MOST_JSON_DEPTH = 64;

interface Library {
  visit(text: string, visitor: JSONVisitor, options: { allowTrailingComma: boolean }): unknown;
}

/** The numbers of the library's mistakes inside one word of the text; the others follow from what is expected. */
const CODE = {
  endOfComment: 11,
  endOfString: 12,
  endOfNumber: 13,
  unicode: 14,
  escape: 15,
  character: 16,
} satisfies Record<string, ParseErrorCode>;

/** What may come next: `first` in an object or list, a key or an element, else their end. */
type Expected = "value" | "first" | "colon" | "comma" | "end";

interface Open {
  holder: Record<string, unknown> | unknown[];
  offset: number;
  /** The one that stood last. */
  key: string;
}

/** Thrown: the visitor has no other way to end. */
class Wrong {
  readonly at: number;
  readonly says: string;

  constructor(at: number, says: string) {
    this.at = at;
    this.says = says;
  }
}

export function parsePlaced({ visit }: Library, text: string): JsonText {
  const values = createPlaces(text);
  const keys = createPlaces(text);
  const problems: JsonProblem[] = [];
  const open: Open[] = [];
  let whole: unknown;
  let expected: Expected = "value";
  let lastNumber: { from: number; to: number } | undefined;

  const put = (value: unknown, offset: number, path: JsonPath): void => {
    values.add(path, offset);
    if (path.length > MOST_JSON_DEPTH)
      throw wrong(offset, `more than ${MOST_JSON_DEPTH} levels deep: settings are flatter than that`);
    const into = open.at(-1);
    if (!into) whole = value;
    else if (Array.isArray(into.holder)) into.holder.push(value);
    else if (into.key !== "__proto__") into.holder[into.key] = value;
    expected = into ? "comma" : "end";
  };
  const begin = (holder: Open["holder"], offset: number, path: JsonPath): void => {
    put(holder, offset, path);
    open.push({ holder, offset, key: "" });
    expected = "first";
  };
  const end = (offset: number): void => {
    if (offset >= text.length) throw mistake(offset);
    open.pop();
    expected = open.length > 0 ? "comma" : "end";
  };
  const mistake = (offset: number): Wrong =>
    mistakeAt(offset, { json: text, expected, inside: open.at(-1), lastNumber });

  const visitor: JSONVisitor = {
    onObjectBegin: (offset, _length, _line, _column, path) => begin(Object.create(null), offset, path()),
    onArrayBegin: (offset, _length, _line, _column, path) => begin([], offset, path()),
    onObjectEnd: end,
    onArrayEnd: end,
    onObjectProperty(key, offset, _length, _line, _column, holder) {
      const path = [...holder(), key];
      const says = keyProblem(key, keys.get(path));
      if (says !== undefined) problems.push({ path, place: placeIn(text, offset), says });
      keys.add(path, offset);
      const inside = open.at(-1);
      if (inside) inside.key = key;
      expected = "colon";
    },
    onLiteralValue(value, offset, length, _line, _column, path) {
      put(value, offset, path());
      lastNumber = typeof value === "number" ? { from: offset, to: offset + length } : undefined;
    },
    onSeparator(sign) {
      expected = sign === ":" ? "value" : "first";
    },
    onError(code, offset, length) {
      throw inWord(code, text.slice(offset, offset + length), offset) ?? mistake(offset);
    },
  };

  const places = { valuePlace: values.nearest, keyPlace: keys.nearest };
  try {
    visit(text, visitor, { allowTrailingComma: true });
    return { value: whole, problems, ...places };
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { value: undefined, problems: [{ path: [], place: placeIn(text, error.at), says: error.says }], ...places };
  }
}

function placeIn(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\r|\n/);
  const [last = ""] = lines.slice(-1);
  return { line: lines.length, column: last.length + 1 };
}

function createPlaces(text: string) {
  const places = new Map<string, number>();
  const get = (path: JsonPath): TextPlace | undefined => {
    const offset = places.get(keyOf(path));
    return offset === undefined ? undefined : placeIn(text, offset);
  };
  return {
    add: (path: JsonPath, offset: number) => places.set(keyOf(path), offset),
    get,
    /** Of it, or of the nearest that holds it. */
    nearest(wanted: JsonPath): TextPlace {
      for (let n = wanted.length; n >= 0; n--) {
        const found = get(wanted.slice(0, n));
        if (found) return found;
      }
      return placeIn(text, 0);
    },
  };
}

function keyProblem(key: string, first: TextPlace | undefined): string | undefined {
  if (key === "__proto__") return "the key `__proto__` is never one of ours: take it out";
  return first && `the key ${quoted(key)} stands in line ${first.line} already: keep one`;
}

const wrong = (at: number, says: string): Wrong => new Wrong(at, says);
const closeOf = (one: Open | undefined): string => (Array.isArray(one?.holder) ? "]" : "}");

interface Reading {
  json: string;
  expected: Expected;
  inside: Open | undefined;
  lastNumber: { from: number; to: number } | undefined;
}

/** What is wrong with what stands there, by what should. */
function mistakeAt(offset: number, { json, expected, inside, lastNumber }: Reading): Wrong {
  if (lastNumber?.to === offset && /[\w.]/.test(json.charAt(offset)))
    return wrong(lastNumber.from, "this is not a number");
  if (expected === "end") return wrong(offset, "the value has ended, and more text follows: take it out");
  if (expected === "colon") return wrong(offset, "a : belongs here, after the key");
  if (expected === "comma") return wrong(offset, `a , or ${closeOf(inside)} belongs here`);
  const isInside = expected === "first" && inside;
  if (isInside && offset >= json.length) {
    const sign = Array.isArray(inside.holder) ? "[" : "{";
    return wrong(inside.offset, `this ${sign} has no end: write ${closeOf(inside)}`);
  }
  if (isInside && !Array.isArray(inside.holder)) return wrong(offset, "a key in double quotes or } belongs here");
  return notValue(json, offset);
}

/** A comment, text or number that is broken in itself. */
function inWord(code: ParseErrorCode, word: string, offset: number): Wrong | undefined {
  switch (code) {
    case CODE.endOfComment:
      return wrong(offset, "this comment has no end: write */");
    case CODE.endOfString:
      return wrong(offset, 'this text has no end: write "');
    case CODE.endOfNumber:
      return wrong(offset, "this is not a number");
    case CODE.unicode:
    case CODE.escape: {
      const escapes = word.matchAll(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\)/g);
      const odd = [...escapes].find(([, alone]) => alone !== undefined);
      return wrong(offset + (odd?.index ?? 0), "a backslash that means nothing here: write \\\\");
    }
    case CODE.character:
      return wrong(
        offset + Math.max(0, word.search(/[\0-\x1f]/)),
        "a control character in a text: write it as \\u00XX",
      );
    default:
      return undefined;
  }
}

function notValue(text: string, offset: number): Wrong {
  const char = text[offset];
  if (char === undefined) return wrong(offset, "the file ends here, and a value is missing: write one, such as {}");
  if (char === "'") return wrong(offset, "text stands in double quotes, not single ones");
  const word = /^[A-Za-z_$][\w$'-]*/.exec(text.slice(offset, offset + 100))?.[0];
  const says = word ? `${word} is not a value: put text in double quotes` : `${JSON.stringify(char)} is not a value`;
  return wrong(offset, says);
}

const keyOf = (path: JsonPath): string => path.map(String).join("\u0000");
