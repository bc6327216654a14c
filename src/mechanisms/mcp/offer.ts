// What a server offers: the definitions of its tools, bounded and without marks of the runtime, and the hash that stands for each.
import { nameBlob } from "../../ledger/checksum.ts";
import { withoutMarks } from "../../loop/marks.ts";
import { cutText } from "../../text/cut.ts";
import { visible } from "../../text/visible.ts";

/** A tool as a model is shown it. */
export interface ToolDefinition {
  /** As the server calls it. */
  tool: string;
  description: string;
  schema: Record<string, unknown>;
  /** The server says that it changes nothing. */
  readOnly: boolean;
  /** Of what the server said, whole. */
  hash: string;
}

/** As a server lists it. */
export interface ListedTool {
  name: string;
  description?: string | undefined;
  inputSchema?: unknown;
  annotations?: { readOnlyHint?: boolean | undefined } | undefined;
}

const LONGEST_DESCRIPTION = 2000;
const LONGEST_SCHEMA = 24_000;
const MOST_TOOLS = 2000;
const LONGEST_NAME = 128;

/** Of all of a server: they are recorded when they change, and kept for the project. */
const MOST_CHARS = 4_000_000;

/** Contract: the first of them, as many as fit. */
export function definitionsOf(listed: readonly ListedTool[]): ToolDefinition[] {
  let chars = 0;
  const all: ToolDefinition[] = [];
  for (const tool of listed.slice(0, MOST_TOOLS)) {
    const definition = definitionOf(tool);
    chars += JSON.stringify(definition).length;
    if (chars > MOST_CHARS) break;
    all.push(definition);
  }
  return all;
}

function definitionOf({ name, description = "", inputSchema: given, annotations }: ListedTool): ToolDefinition {
  const inputSchema = shallow(given, DEEPEST);
  return {
    tool: name,
    description: shownText(description),
    schema: shownSchema(inputSchema),
    readOnly: annotations?.readOnlyHint === true,
    hash: definitionHash({ name, description, inputSchema, annotations: annotations ?? {} }),
  };
}

const DEEPEST = 64;

/** What is deeper is neither shown nor hashed: nobody describes arguments so, and whoever walks through it would fall. */
function shallow(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return {};
  if (Array.isArray(value)) return value.map((one) => shallow(one, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shallow(one, levels - 1)]));
}

/** Text of a server, for a model: data, at most 2 kB. */
export const shownText = (text: string): string => withoutMarks(cutText(text, LONGEST_DESCRIPTION));

/** A name that a server gave, in a line of ours. */
export const shownName = (name: string): string => visible(cutText(name, LONGEST_NAME));

/** Contract: what the order of keys does not change. */
export const definitionHash = (value: unknown): string => nameBlob(Buffer.from(JSON.stringify(sorted(value)) ?? ""));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** Providers want an object at the top. One that is too long to be sent with every request tells only the names. */
function shownSchema(given: unknown): Record<string, unknown> {
  const { $schema: _, ...schema } = isObject(given) ? given : {};
  const whole = bounded({ ...schema, type: "object", properties: schema.properties ?? {} }) as Record<string, unknown>;
  if (JSON.stringify(whole).length <= LONGEST_SCHEMA) return whole;
  const names = isObject(schema.properties) ? Object.keys(schema.properties).slice(0, 200) : [];
  const { required } = schema;
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    ...(required ? { required } : {}),
  };
}

function bounded(value: unknown): unknown {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) return value.map(bounded);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bounded(one)]));
}
