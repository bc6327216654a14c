// Owns reading JSON as people write it (comments, trailing commas, a byte order mark), with the place of every key and value.

export interface Place {
  line: number;
  column: number;
}

export type JsonPath = readonly PropertyKey[];

interface JsonProblem {
  path: JsonPath;
  place: Place;
  says: string;
}

export interface JsonText {
  /** Undefined when the text is not JSON: then there is exactly one problem. Objects have no prototype. */
  value: unknown;
  problems: JsonProblem[];
  /** Where the value at this path begins; of what is not there, where the nearest thing around it begins. */
  valuePlace(path: JsonPath): Place;
  /** Where its key stands. */
  keyPlace(path: JsonPath): Place;
}

/** Deeper than any settings, shallower than the stack. */
const MAX_DEPTH = 64;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$-]*/y;
const ESCAPED: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

interface Wrong {
  at: number;
  says: string;
}

export function readJsonText(given: string): JsonText {
  const text = given.charCodeAt(0) === 0xfeff ? given.slice(1) : given;
  const values = new Map<string, number>();
  const keys = new Map<string, number>();
  const problems: JsonProblem[] = [];
  const path: PropertyKey[] = [];
  let at = 0;

  const placeOf = (offset: number): Place => {
    const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
    return { line: lines.length, column: lines.at(-1)!.length + 1 };
  };
  const wrong = (says: string, where = at): Wrong => ({ at: where, says });
  const matched = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };

  function skip(): void {
    for (;;) {
      while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
      if (text.startsWith("//", at)) {
        while (at < text.length && text[at] !== "\n" && text[at] !== "\r") at++;
      } else if (text.startsWith("/*", at)) {
        const end = text.indexOf("*/", at + 2);
        if (end < 0) throw wrong("this comment has no end: write */");
        at = end + 2;
      } else return;
    }
  }

  function string(): string {
    const start = at++;
    let out = "";
    for (;;) {
      const char = text[at];
      if (char === undefined || char === "\n" || char === "\r") throw wrong('this text has no end: write "', start);
      at++;
      if (char === '"') return out;
      if (char < " ") throw wrong("a control character in a text: write it as \\u00XX", at - 1);
      if (char !== "\\") {
        out += char;
        continue;
      }
      const letter = text[at++] ?? "";
      if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(text.slice(at, at + 4))) {
        out += String.fromCharCode(Number.parseInt(text.slice(at, at + 4), 16));
        at += 4;
      } else if (Object.hasOwn(ESCAPED, letter)) out += ESCAPED[letter];
      else throw wrong("a backslash that means nothing here: write \\\\", at - 2);
    }
  }

  function value(): unknown {
    skip();
    values.set(keyOf(path), at);
    if (path.length > MAX_DEPTH) throw wrong(`more than ${MAX_DEPTH} levels deep: settings are flatter than that`);
    const char = text[at];
    if (char === "{") return object();
    if (char === "[") return array();
    if (char === '"') return string();
    const number = matched(NUMBER);
    if (number !== undefined) {
      at += number.length;
      if (/[\w.]/.test(text[at] ?? "")) throw wrong("this is not a number", at - number.length);
      return Number(number);
    }
    const word = matched(WORD);
    if (word === "true" || word === "false" || word === "null") {
      at += word.length;
      return word === "null" ? null : word === "true";
    }
    if (char === "'") throw wrong("text stands in double quotes, not single ones");
    if (char === undefined) throw wrong("the file ends here, and a value is missing: write one, such as {}");
    throw wrong(word ? `${word} is not a value: put text in double quotes` : `${JSON.stringify(char)} is not a value`);
  }

  function object(): unknown {
    const out = Object.create(null) as Record<string, unknown>;
    const open = at++;
    for (;;) {
      skip();
      if (text[at] === "}") break;
      if (text[at] === undefined) throw wrong("this { has no end: write }", open);
      if (text[at] !== '"') throw wrong("a key in double quotes or } belongs here");
      const start = at;
      const key = string();
      path.push(key);
      const first = keys.get(keyOf(path));
      if (key === "__proto__") note(start, "the key `__proto__` is never one of ours: take it out");
      else if (first !== undefined)
        note(start, `the key ${quoted(key)} stands in line ${placeOf(first).line} already: keep one`);
      keys.set(keyOf(path), start);
      skip();
      if (text[at] !== ":") throw wrong("a : belongs here, after the key");
      at++;
      const given = value();
      if (key !== "__proto__") out[key] = given;
      path.pop();
      if (!more("}")) break;
    }
    at++;
    return out;
  }

  function array(): unknown {
    const out: unknown[] = [];
    const open = at++;
    for (;;) {
      skip();
      if (text[at] === "]") break;
      if (text[at] === undefined) throw wrong("this [ has no end: write ]", open);
      path.push(out.length);
      out.push(value());
      path.pop();
      if (!more("]")) break;
    }
    at++;
    return out;
  }

  /** After an item: whether a comma says that another may come. */
  function more(close: string): boolean {
    skip();
    if (text[at] === close) return false;
    if (text[at] !== ",") throw wrong(`a , or ${close} belongs here`);
    at++;
    return true;
  }

  function note(offset: number, says: string): void {
    problems.push({ path: [...path], place: placeOf(offset), says });
  }

  const nearest = (places: Map<string, number>, wanted: JsonPath): Place => {
    for (let n = wanted.length; n >= 0; n--) {
      const found = places.get(keyOf(wanted.slice(0, n)));
      if (found !== undefined) return placeOf(found);
    }
    return placeOf(0);
  };
  const places = {
    valuePlace: (wanted: JsonPath) => nearest(values, wanted),
    keyPlace: (wanted: JsonPath) => nearest(keys, wanted),
  };
  try {
    const whole = value();
    skip();
    if (at < text.length) throw wrong("the value has ended, and more text follows: take it out");
    return { value: whole, problems, ...places };
  } catch (error) {
    const { at: offset, says } = error as Wrong;
    if (says === undefined) throw error;
    return { value: undefined, problems: [{ path: [], place: placeOf(offset), says }], ...places };
  }
}

const keyOf = (path: JsonPath): string => path.map(String).join("\u0000");

/** Text of a file inside a message: one short line, whatever it holds. */
export function quoted(text: string): string {
  const flat = JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
    .slice(1, -1)
    .replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "�");
  return `\`${flat}\``;
}
