// Conditions and paths on shared data: the grammar of the templates, and what they say about values.
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import { type Condition, parseCondition } from "../templates/control.ts";
import { type Cursor, type Path, parsePath, skipSpace, unexpected } from "../templates/expression.ts";
import { stepInto } from "../templates/json.ts";
import { holds } from "../templates/scope.ts";
import { createSource } from "../templates/source.ts";

const cursorOf = (text: string): Cursor => ({
  source: createSource("", text),
  at: 0,
  end: text.length,
  decode: (raw) => raw,
});

/** What is wrong, without the place in the little text. */
function reasonOf(error: unknown): string {
  if (!isHoldfastError(error)) throw error;
  return messageOf(error).replace(/^:\d+:\d+: /, "");
}

export function readCondition(text: string): { condition: Condition } | { wrong: string } {
  try {
    return { condition: parseCondition(cursorOf(text)) };
  } catch (error) {
    return { wrong: reasonOf(error).replaceAll("if takes", "it takes") };
  }
}

export function readPath(text: string): { path: Path } | { wrong: string } {
  try {
    const cursor = cursorOf(text.trim());
    const advice = "It takes a path such as files or plan.files.";
    const path = parsePath(cursor, advice);
    skipSpace(cursor);
    if (cursor.at < cursor.end) throw unexpected(cursor, advice);
    return { path };
  } catch (error) {
    return { wrong: reasonOf(error) };
  }
}

export const rootOf = (path: Path): string => String(path.keys[0]);

/** The keys of a variable as a template names it. Contract: the name came from a template. */
export const keysOf = (name: string): Path["keys"] => parsePath(cursorOf(name), "").keys;

/** A missing value, null, false, 0, "" and what is empty do not hold. */
export const holdsOn = (condition: Condition, values: object): boolean =>
  holds(condition, { names: new Map<string, unknown>(), values });

export function valueAt(path: Path, values: object): unknown {
  let value: unknown = values;
  for (const key of path.keys) value = stepInto(value, key);
  return value;
}
