// The last look at everything that leaves as JSON: whatever a field forgot, no text in it acts on a terminal, turns itself around or is half a character.
import { printable } from "../presentation/printable.ts";

/** What may be in such a text; JSON spells most of it with a backslash. Where it is none after all, only time is lost. */
const MAYBE =
  /\\[bfru]|[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{M}{2}/u;

/** Contract: the same JSON, its texts and names fit to be shown as text. */
export function inertJson(json: string): string {
  return MAYBE.test(json) ? JSON.stringify(cleaned(JSON.parse(json))) : json;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleaned(one)]));
}

const clean = (text: string): string => printable(text).toWellFormed();
