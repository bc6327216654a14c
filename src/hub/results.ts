// The one shape of `accumulated_results`: what an agent, an item of a phase or a person gave, bounded, the rest by reference.
import type { Json } from "../contexts/values.ts";

/** Longer values and texts stand there as a reference. */
const WHOLE_BYTES = 8 * 1024;

export interface ResultEntry {
  agent: string;
  /** The type of the agent; `person` for what somebody gave. */
  type: string;
  phase?: string;
  item?: number;
  at: number;
  /** The last text; a longer one is cut, and says where the whole is. */
  text: string;
  /** Each value, or where it is. */
  exports: Record<string, Json | { ref: string; bytes: number }>;
}

/** The entry, and the values that it refers to and nobody has shared yet. */
export function resultEntry({
  text,
  exports,
  ...from
}: Omit<ResultEntry, "exports"> & { exports: Record<string, unknown> }): {
  result: ResultEntry;
  values: Record<string, unknown>;
} {
  const values: Record<string, unknown> = {};
  const kept: ResultEntry["exports"] = {};
  for (const [key, value] of Object.entries(exports)) {
    const bytes = Buffer.byteLength(JSON.stringify(value) ?? "");
    if (bytes <= WHOLE_BYTES) {
      kept[key] = value as Json;
      continue;
    }
    // The shared key holds the list of all items: one of them is kept under a name of its own.
    const ref = from.item === undefined ? key : `agent/${from.agent}/${key}`;
    if (ref !== key) values[ref] = value;
    kept[key] = { ref, bytes };
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= WHOLE_BYTES) return { result: { ...from, text, exports: kept }, values };
  const whole = `agent/${from.agent}/text`;
  values[whole] = text;
  return { result: { ...from, text: `${cut(text)}\n(${bytes} bytes in all: ${whole})`, exports: kept }, values };
}

function cut(text: string): string {
  const whole = Buffer.from(text).subarray(0, WHOLE_BYTES);
  return new TextDecoder().decode(whole, { stream: true }); // a character that was cut in two is left out
}
