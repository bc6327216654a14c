// What the attributes `if` and `for` may say: three forms of a condition and one of a loop.
import { type Cursor, eat, eatName, eatString, type Path, parsePath, skipSpace, unexpected } from "./expression.ts";
import { problem, quotedSource } from "./source.ts";

export interface Condition {
  path: Path;
  /** `!path` */
  not: boolean;
  /** `path == 'literal'` */
  equals?: string;
}

export interface Loop {
  at: number;
  name: string;
  list: Path;
}

const CONDITION = `if takes a path, "!path" or "path == 'literal'", and nothing more.`;
const LOOP = `for takes "name in path", and nothing more.`;

export function parseCondition(c: Cursor): Condition {
  skipSpace(c);
  const not = eat(c, /!/y) !== undefined;
  const path = parsePath(c, CONDITION);
  skipSpace(c);
  const condition: Condition = { path, not };
  if (!not && eat(c, /==/y) !== undefined) {
    skipSpace(c);
    const literal = eatString(c);
    if (literal === undefined) throw unexpected(c, CONDITION);
    condition.equals = literal;
    skipSpace(c);
  }
  if (c.at < c.end) throw unexpected(c, CONDITION);
  return condition;
}

export function parseLoop(c: Cursor): Loop {
  skipSpace(c);
  const at = c.at;
  const name = variableName(c);
  if (eat(c, /\s+in\s+/y) === undefined) throw unexpected(c, LOOP);
  const list = parsePath(c, LOOP);
  skipSpace(c);
  if (c.at < c.end) throw unexpected(c, LOOP);
  return { at, name, list };
}

/** A name that <let> or a loop gives. */
export function variableName(c: Cursor): string {
  const at = c.at;
  const name = eatName(c);
  if (name === undefined) throw unexpected(c, "A variable has a name of letters, digits and _.");
  if (["loop", "__proto__", "constructor", "prototype"].includes(name)) {
    throw problem(c.source, at, `a variable cannot be called ${quotedSource(name)}`, "Choose another name.");
  }
  return name;
}
