// Schemas of inputs and exports: JSON Schema or zod, checked before anything runs.
import * as z from "zod";
import { messageOf } from "../ledger/error.ts";
import { explain } from "../ledger/events.ts";
import { didYouMean, quotedSource } from "../templates/source.ts";
import type { Typed } from "./definition.ts";
import type { At, Places } from "./places.ts";

// What zod reads without a word although it means nothing: a slip of the pen would check nothing.
const KEYWORDS = new Set(
  (
    "$schema $id $ref $defs $comment definitions type enum const title description default examples deprecated readOnly writeOnly " +
    "properties required additionalProperties patternProperties propertyNames minProperties maxProperties " +
    "items prefixItems additionalItems minItems maxItems uniqueItems contains minContains maxContains " +
    "minLength maxLength pattern format contentEncoding contentMediaType " +
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf not nullable"
  ).split(" "),
);

/** Reports a schema that cannot be used; undefined then. */
export function readSchema(written: unknown, at: At, places: Places): Typed | undefined {
  const name = quotedSource(String(at.at(-1)));
  const refuse = (what: string, advice: string, key?: string): undefined => {
    places.report(at, what, advice, key);
  };
  if (typeof written === "boolean")
    return { schema: written, check: (v) => (written || v === undefined ? undefined : "nothing is allowed here") };
  if (typeof written !== "object" || written === null || Array.isArray(written))
    return refuse(`the schema of ${name} is not a JSON Schema`, "Write an object such as { type: string }.");
  try {
    if (isZod(written)) {
      const { $schema: _, ...schema } = z.toJSONSchema(written, { io: "input" });
      return { schema, check: checkBy(written) };
    }
    const unknown = unknownKeyword(written);
    if (unknown) {
      const what = `the schema of ${name} has no meaning for ${quotedSource(unknown)}${didYouMean(unknown, KEYWORDS)}`;
      return refuse(what, "Write JSON Schema.", unknown);
    }
    const schema: Record<string, unknown> = JSON.parse(JSON.stringify(written));
    return { schema, check: checkBy(z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])) };
  } catch (error) {
    const why = messageOf(error)
      .replace(/\n[\s\S]*/, "")
      .replace(/\.$/, "");
    return refuse(`the schema of ${name} cannot be used: ${why}`, "Write JSON Schema 2020-12 without if/then/else.");
  }
}

const isZod = (schema: object): schema is z.ZodType => "_zod" in schema;

function checkBy(schema: z.ZodType): Typed["check"] {
  return (value) => {
    const parsed = schema.safeParse(value);
    return parsed.success ? undefined : explain(parsed.error);
  };
}

function unknownKeyword(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  for (const [key, value] of Object.entries(schema)) {
    if (!KEYWORDS.has(key) && !key.startsWith("x-")) return key;
    let inner: unknown[] = [];
    if (key === "properties" || key === "$defs") inner = Object.values(value ?? {});
    if (key === "items" || key === "additionalProperties") inner = [value];
    if (["anyOf", "oneOf", "allOf", "prefixItems"].includes(key) && Array.isArray(value)) inner = value;
    for (const one of inner) {
      const found = unknownKeyword(one);
      if (found) return found;
    }
  }
  return undefined;
}
