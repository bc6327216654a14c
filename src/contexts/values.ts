// Values: what may be shared (JSON), how it is kept (short ones in the event, longer ones as one blob), and how it is had again.
import { nameBlob } from "../ledger/checksum.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";

/** Above this a value is a blob, and its event holds a reference only. */
const INLINE_BYTES = 2048;
const PREVIEW_CHARS = 80;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** What an event says about a value. */
export interface ValueFacts {
  hash: string;
  bytes: number;
  type: JsonType;
  preview: string;
  /** The value itself, when it is short. */
  value?: Json;
}

export interface Encoded {
  facts: ValueFacts;
  blob?: Uint8Array;
}

/** Contract: throws `invalid` with the path of the first thing that is not JSON. */
export function encodeValue(key: string, value: unknown): Encoded {
  const wrong = isPlainJson(value, 0) ? undefined : notJson(value, "$", new Set());
  if (wrong)
    throw new HoldfastError("invalid", `${key}: ${wrong.path} is ${wrong.what}: share JSON values only`, {
      detail: { key, ...wrong },
    });
  const text = jsonOf(key, value);
  if (text === undefined)
    throw new HoldfastError("invalid", `${key}: $ becomes nothing as JSON: share JSON values only`);
  const blob = Buffer.from(text);
  const inline = blob.length <= INLINE_BYTES;
  const plain: Json = JSON.parse(inline ? text : "null");
  const whole = nameBlob(blob);
  const facts: ValueFacts = {
    // Half of it for a short value: only what names a blob looks like the name of one.
    hash: inline ? whole.slice(0, 32) : whole,
    bytes: blob.length,
    type: textType(text),
    preview: beginningOf(text),
  };
  return inline ? { facts: { ...facts, preview: "", value: plain } } : { facts, blob };
}

function jsonOf(key: string, value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new HoldfastError(
      "invalid",
      `${key}: $ cannot be written as JSON (${messageOf(cause)}): share JSON values only`,
      {
        cause,
      },
    );
  }
}

/** For listings: inline values carry no second copy of their beginning in the event. */
export function previewOf(facts: ValueFacts): string {
  return facts.preview || beginningOf(JSON.stringify(facts.value) ?? "");
}

/** A copy: a slice would keep the whole text in memory for as long as the preview is kept. */
const beginningOf = (text: string): string =>
  text.length <= PREVIEW_CHARS ? text : Buffer.from(text.slice(0, PREVIEW_CHARS)).toString();

export function decodeBlob(bytes: Uint8Array): Json {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

const TYPE_BY_CHAR: Record<string, JsonType> = {
  "{": "object",
  "[": "array",
  '"': "string",
  n: "null",
  t: "boolean",
  f: "boolean",
};

function textType(text: string): JsonType {
  return TYPE_BY_CHAR[text.charAt(0)] ?? "number";
}

/** What is deeper cannot be read by programs that recurse, this one among them. */
const DEEPEST = 1_000;

/** Deeper than that may be a loop: the slow look tells. */
const DEEP = 200;

/** The usual case, without a word about places. */
function isPlainJson(value: unknown, depth: number): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > DEEP) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isPlainJson(value[i], depth + 1)) return false;
    return true;
  }
  if (value instanceof Map || value instanceof Set) return false;
  for (const key in value) {
    const one = (value as Record<string, unknown>)[key];
    if (typeof one !== "string" && !isPlainJson(one, depth + 1)) return false;
  }
  return true;
}

/** The first thing that is not JSON, with its place. */
function notJson(value: unknown, path: string, above: Set<object>): { path: string; what: string } | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, what: String(value) };
    case "object":
      break;
    default:
      return { path, what: typeof value };
  }
  if (value === null || ("toJSON" in value && typeof value.toJSON === "function")) return undefined;
  if (value instanceof Map || value instanceof Set) return { path, what: "a Map or a Set, which JSON has not" };
  if (above.has(value)) return { path, what: "a part of itself" };
  if (above.size >= DEEPEST) return { path: `${path.slice(0, 40)}…`, what: `nested deeper than ${DEEPEST} levels` };
  above.add(value);
  for (const [key, one] of Object.entries(value)) {
    if (one === undefined && !Array.isArray(value)) continue; // left out, as JSON does
    const wrong = notJson(one, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, above);
    if (wrong) return wrong;
  }
  above.delete(value);
  return undefined;
}
