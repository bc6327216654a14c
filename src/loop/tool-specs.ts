// The schemas of tools: built once for each tool, for checking calls and, as JSON Schema, for the model.

import type { ZodType } from "zod";
import * as z from "zod";
import type { ToolSpec } from "../models/model.ts";
import type { Tool } from "./seams.ts";

const schemas = new WeakMap<Tool, ZodType>();
const specs = new WeakMap<Tool, ToolSpec>();
let lastPool: readonly Tool[] = [];
let lastSpecs: readonly ToolSpec[] = [];

/** A tool's schema, built once: zod compiles each one it meets. */
export function schemaOf(tool: Tool): ZodType {
  let schema = schemas.get(tool);
  if (!schema) {
    schema = tool.schema();
    schemas.set(tool, schema);
  }
  return schema;
}

/** Contract: the same pool gives the same array, so that adapters may remember how it looks on the wire. */
export function toolSpecs(pool: readonly Tool[]): readonly ToolSpec[] {
  if (pool.length === lastPool.length && pool.every((tool, i) => tool === lastPool[i])) return lastSpecs;
  lastPool = pool;
  lastSpecs = pool.map(specOf);
  return lastSpecs;
}

function specOf(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (!spec) {
    spec = { name: tool.name, description: tool.description, input: tool.json ?? jsonOf(schemaOf(tool)) };
    specs.set(tool, spec);
  }
  return spec;
}

export function jsonOf(schema: ZodType): Record<string, unknown> {
  const { $schema: _, ...input } = z.toJSONSchema(schema, { io: "input" });
  return leanObject(input);
}

/** Leaves out what costs tokens in every request and tells a model nothing: our schemas check it anyway. */
function lean(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lean);
  return typeof schema === "object" && schema !== null ? leanObject(schema) : schema;
}

const leanObject = (schema: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !saysNothing(key, value))
      .map(([key, value]) => [key, lean(value)]),
  );

/** That a path is not empty, that a count is above nothing: nobody would write it otherwise. */
function saysNothing(key: string, value: unknown): boolean {
  if (key === "additionalProperties") return typeof value !== "object" || Object.keys(value ?? {}).length === 0;
  if (key === "minLength" || key === "minItems") return value === 1;
  if (key === "exclusiveMinimum") return value === 0;
  if (key !== "maximum" && key !== "minimum") return false;
  return (key === "minimum" && value === 0) || Math.abs(Number(value)) >= Number.MAX_SAFE_INTEGER;
}
