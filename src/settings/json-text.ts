// JSON as people write it (comments, trailing commas, a byte order mark), with the place of every key and value.
// What is plain JSON goes through JSON.parse; the library jsonc-parser is loaded for what is not, and for places in a message.
import { createRequire } from "node:module";
import { type JsonText, MOST_JSON_DEPTH, parsePlaced } from "./json-places.ts";

export function readJsonText(given: string): JsonText {
  const text = given.charCodeAt(0) === 0xfeff ? given.slice(1) : given;
  let parsed: JsonText | undefined;
  const placed = (): JsonText => {
    parsed ??= parsePlaced(createRequire(import.meta.url)("jsonc-parser"), text);
    return parsed;
  };
  const plain = plainJson(text);
  const { value, problems } = plain ?? placed();
  return {
    value,
    problems,
    valuePlace: (path) => placed().valuePlace(path),
    keyPlace: (path) => placed().keyPlace(path),
  };
}

/** Undefined: it is not plain JSON, or there is something to say about it. */
function plainJson(text: string): Pick<JsonText, "value" | "problems"> | undefined {
  let keys = 0;
  let isPlain = true;
  const bare = (given: unknown, depth: number): unknown => {
    isPlain &&= depth <= MOST_JSON_DEPTH;
    if (typeof given !== "object" || given === null || !isPlain) return given;
    if (Array.isArray(given)) return given.map((item) => bare(item, depth + 1));
    const out: Record<string, unknown> = Object.create(null);
    for (const [key, inner] of Object.entries(given)) {
      keys++;
      isPlain &&= key !== "__proto__";
      out[key] = bare(inner, depth + 1);
    }
    return out;
  };
  try {
    const value = bare(JSON.parse(text), 0);
    return isPlain && keys === colonsIn(text) ? { value, problems: [] } : undefined;
  } catch {
    return undefined;
  }
}

/** Those between keys and values. Contract: the text is JSON. More of them than keys: a key stands twice. */
function colonsIn(text: string): number {
  let colons = 0;
  let isInside = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') isInside = !isInside;
    else if (c === "\\")
      i++; // only inside
    else if (c === ":" && !isInside) colons++;
  }
  return colons;
}
