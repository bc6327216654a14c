// Schemas of shared data: zod or JSON Schema, kept as JSON Schema in the ledger so that every process checks the same. zod is loaded on first use.

import type { ZodType } from "zod";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { explain } from "../ledger/events.ts";
import { isRecord } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import type { Config, FoldState } from "./fold.ts";
import type { Json } from "./values.ts";

/** A zod schema, or JSON Schema 2020-12 as far as zod reads it (no if/then/else, no unevaluated…). */
export type Schema = ZodType | { [keyword: string]: unknown } | boolean;

type Checked = (value: unknown) => string | undefined;

/** Refinements of a zod schema that JSON Schema cannot say are checked in processes that were given the schema itself. */
export type LocalSchemas = Map<string, ZodType>;

export interface SchemaOptions {
  /** One for each key; null takes it away. */
  schemas?: Record<string, Schema | null>;
  /** For the whole: an object schema whose properties are the keys. `required` keys cannot be removed; they may not be there yet. */
  schema?: Schema;
}

/** What `context.configured` keeps of schemas. Contract: throws `invalid` for one that cannot be kept or read. */
export async function schemaFacts(
  opts: SchemaOptions,
  local: LocalSchemas,
): Promise<Partial<Pick<Config, "others" | "required">> & { schemas?: Record<string, unknown> }> {
  if (opts.schema === undefined && !opts.schemas) return {};
  const facts: Awaited<ReturnType<typeof schemaFacts>> = {};
  const byKey = new Map<string, unknown>();
  if (opts.schema !== undefined) {
    const { properties, additionalProperties, required = [], $defs } = await wholeSchema(opts.schema);
    const defs = $defs ? { $defs } : {};
    const shape = isZod(opts.schema) && "shape" in opts.schema && isRecord(opts.schema.shape) ? opts.schema.shape : {};
    for (const [key, schema] of Object.entries(properties)) {
      byKey.set(key, typeof schema === "object" ? { ...schema, ...defs } : schema);
      const refined = own(shape, key);
      if (isZod(refined)) local.set(key, refined);
    }
    if (additionalProperties !== undefined) facts.others = additionalProperties;
    facts.required = required;
  }
  for (const [key, schema] of Object.entries(opts.schemas ?? {})) {
    local.delete(key);
    if (schema !== null && isZod(schema)) local.set(key, schema);
    byKey.set(key, schema === null ? null : await asJsonSchema(schema, key));
  }
  for (const [key, schema] of byKey) if (schema !== null) await compile(schema, key);
  return { schemas: Object.fromEntries(byKey), ...facts };
}

export interface Checker {
  /** Anything may stand there: there is nothing to check. */
  isFree(state: FoldState, key: string): boolean;
  /** Contract: throws `invalid` with path and reason. */
  value(state: FoldState, key: string, value: unknown): Promise<void>;
  /** One item that is to be appended to a list. */
  item(state: FoldState, key: string, item: unknown): Promise<void>;
  removal(state: FoldState, key: string): void;
  /** Why a stored value no longer fits, if so. */
  misfit(state: FoldState, key: string, value: Json): Promise<string | undefined>;
}

export function createChecker(local: LocalSchemas): Checker {
  const compiled = new WeakMap<object, Checked>();

  async function checkedBy(schema: unknown, key: string): Promise<Checked> {
    if (typeof schema !== "object" || schema === null) return compile(schema, key);
    let check = compiled.get(schema);
    if (!check) {
      check = await compile(schema, key);
      compiled.set(schema, check);
    }
    return check;
  }

  async function reason(state: FoldState, key: string, value: unknown): Promise<string | undefined> {
    if (isFree(state, key)) return undefined;
    const schema = schemaOf(state.config, key);
    if (schema === false)
      return `the schema of this context knows no such key (it has ${Object.keys(state.config.schemas).join(", ") || "none"})`;
    const own = local.get(key);
    const wrong = await own?.safeParseAsync(value); // refinements may ask anything, this context too
    if (wrong && !wrong.success) return explain(wrong.error);
    return (await checkedBy(schema, key))(value);
  }

  return {
    isFree,
    async value(state, key, value) {
      const why = await reason(state, key, value);
      if (why) throw misfitError(key, why);
    },
    async item(state, key, item) {
      if (isFree(state, key)) return;
      const schema = schemaOf(state.config, key);
      if (!isRecord(schema) || schema.type !== "array")
        throw misfitError(
          key,
          schema === false ? "the schema of this context knows no such key" : "its schema is not of a list",
        );
      const { items, $defs } = schema;
      if (items === undefined) return;
      const one = typeof items === "object" && $defs ? { ...items, $defs } : items;
      const why = (await checkedBy(one, key))(item);
      if (why) throw misfitError(key, why);
    },
    removal(state, key) {
      if (state.config.required.includes(key)) throw misfitError(key, "the schema of this context requires it");
    },
    misfit: reason,
  };
}

function isFree({ config }: FoldState, key: string): boolean {
  const schema = schemaOf(config, key);
  return schema === undefined || schema === true;
}

function schemaOf(config: Config, key: string): unknown {
  return Object.hasOwn(config.schemas, key) ? config.schemas[key] : config.others;
}

function misfitError(key: string, why: string): HoldfastError {
  return new HoldfastError("invalid", `${key}: ${why}; nothing was changed: share a value that fits its schema`, {
    detail: { key, reason: why },
  });
}

async function compile(schema: unknown, key: string): Promise<Checked> {
  if (schema === false) return () => "nothing is allowed here";
  if (schema === true) return () => undefined;
  const z = await import("zod");
  try {
    const built = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return (value) => {
      const parsed = built.safeParse(value);
      return parsed.success ? undefined : explain(parsed.error);
    };
  } catch (error) {
    throw new HoldfastError("invalid", `the schema of ${key} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

function isZod(schema: unknown): schema is ZodType {
  return typeof schema === "object" && schema !== null && "_zod" in schema;
}

async function asJsonSchema(schema: Schema, key: string): Promise<unknown> {
  if (!isZod(schema)) return schema;
  const z = await import("zod");
  try {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
    return json;
  } catch (error) {
    throw new HoldfastError(
      "invalid",
      `the zod schema of ${key} cannot be written as JSON Schema (${messageOf(error)}): other processes could not check it; leave out transforms and custom types`,
      { cause: error },
    );
  }
}

interface Whole {
  properties: Record<string, unknown>;
  additionalProperties?: unknown;
  required?: string[];
  $defs?: unknown;
}

async function wholeSchema(schema: Schema): Promise<Whole> {
  const json = await asJsonSchema(schema, "the whole");
  if (!isWhole(json))
    throw new HoldfastError(
      "invalid",
      "the schema for the whole must be of an object whose properties are the keys: give `schemas` for single keys",
    );
  return json;
}

const isWhole = (json: unknown): json is Whole => isRecord(json) && json.type === "object" && isRecord(json.properties);
