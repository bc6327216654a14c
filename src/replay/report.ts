// A difference as a person reads it: where, whose, what kind, and both values with what is the same left out.
import type { Difference } from "./compare.ts";
import type { Expected } from "./expected.ts";

const SHOWN = 400;
const BEFORE = 60;

export function differenceText({
  seq,
  event,
  agent,
  kind,
  seam,
  mechanism,
  field,
  recorded,
  computed,
}: Difference): string {
  const where = `event ${seq} (${event}${field ? `, ${field}` : ""}) of ${agent}: ${kind}`;
  const [left, right] = apart(textOf(recorded), textOf(computed));
  return [`${where}; seam ${seam}, mechanism ${mechanism}`, ...quoted("-", left), ...quoted("+", right)].join("\n");
}

/** A difference that is expected, and is not there any more. `list`: the file that lists it. */
export const goneText = ({ seq, kind }: Expected, list: string): string =>
  `event ${seq}: ${kind} is listed in ${list} and is not there`;

const textOf = (value: unknown): string =>
  value === undefined ? "(nothing)" : typeof value === "string" ? value : JSON.stringify(value);

/** From a little before the first character in which they differ. */
function apart(a: string, b: string): [string, string] {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  const from = Math.max(0, at - BEFORE);
  const part = (text: string) =>
    `${from > 0 ? "…" : ""}${text.slice(from, from + SHOWN)}${text.length > from + SHOWN ? "…" : ""}`;
  return [part(a), part(b)];
}

const quoted = (sign: string, text: string): string[] => text.split("\n").map((line) => `  ${sign} ${line}`);
