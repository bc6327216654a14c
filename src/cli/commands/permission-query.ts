// The lines that `permissions check --json-lines` reads: what they may say, and what is wrong with one that says something else.

import { resolve } from "node:path";
import * as z from "zod";
import { PERMISSION_MODES, type PermissionMode } from "../../claude-code/permission-modes.ts";
import { fileTools, isFileTool, isSearch, isWriter } from "../../file-access/file-tools.ts";
import { isInside, realPath } from "../../file-access/paths.ts";
import { messageOf } from "../../ledger/error.ts";
import { parseRule } from "../../shell-policy/rules.ts";
import type { ToolCall } from "../../shell-policy/types.ts";

export interface Query {
  id?: unknown;
  call: ToolCall;
  cwd: string;
  mode?: PermissionMode;
  allow: string[];
  ask: string[];
  deny: string[];
}
type Unread = { id?: unknown; error: string };

const TOOLS: Record<string, [name: string, effect: ToolCall["effect"]]> = {
  bash: ["bash", "job"],
  read: ["read_file", "read"],
  write: ["write_file", "reconcile"],
  edit: ["edit_file", "reconcile"],
  ...Object.fromEntries(fileTools(isFileTool).map((name) => [name, [name, isWriter(name) ? "reconcile" : "read"]])),
};

let made: ReturnType<typeof schema> | undefined;
const schema = () =>
  z.strictObject({
    id: z.unknown().optional(),
    command: z.string().optional(),
    tool: z.string().optional(),
    path: z.string().optional(),
    pattern: z.string().optional(),
    /** The whole input of the tool, instead of the three above. */
    input: z.unknown().optional(),
    cwd: z.string().optional(),
    mode: z.enum(PERMISSION_MODES).optional(),
    allow: z.array(z.string()).optional(),
    ask: z.array(z.string()).optional(),
    deny: z.array(z.string()).optional(),
    /** A command that is allowed besides, as `Bash(… *)`; or a whole rule. */
    allow_rule: z.string().nullable().optional(),
  });

/** Contract: never throws; nothing that a line says is passed over. */
export function readQuery(line: string, root: string): Query | Unread {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch (error) {
    return { error: `not JSON: ${messageOf(error)}` };
  }
  const id = typeof raw === "object" && raw && "id" in raw ? raw.id : undefined;
  made ??= schema();
  const read = made.safeParse(raw);
  if (!read.success) return { id, error: describe(read.error) };
  const { tool = "bash", command, path, pattern, input, mode, allow_rule: one } = read.data;
  const [name, effect] = TOOLS[tool.toLowerCase()] ?? [tool, "external" as const];
  if (name === "bash" && command === undefined && input === undefined) return { id, error: '"command" is missing' };
  if (isFileTool(name) && !isSearch(name) && path === undefined && input === undefined)
    return { id, error: '"path" is missing' };
  const cwd = resolve(root, read.data.cwd ?? ".");
  if (!isInside(realPath(root), realPath(cwd)))
    return { id, error: `"cwd" is outside the project: ${cwd} is not below ${root}` };
  const named = one ? [one.includes("(") ? one : `Bash(${one} *)`] : [];
  const { allow = [], ask = [], deny = [] } = read.data;
  for (const rule of [...allow, ...named, ...ask, ...deny]) {
    const problem = problemOf(rule);
    if (problem !== undefined) return { id, error: problem };
  }
  const given = Object.fromEntries(
    Object.entries({ command, path, pattern }).filter(([, value]) => value !== undefined),
  );
  return { id, call: { tool: name, effect, input: input ?? given }, cwd, mode, allow: [...allow, ...named], ask, deny };
}

function problemOf(rule: string): string | undefined {
  try {
    parseRule(rule);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const KEYS = "command, tool, path, pattern, input, cwd, mode, allow, ask, deny, allow_rule, id";

function describe({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (issue?.code === "unrecognized_keys")
    return `unknown ${issue.keys.map((key) => `"${key}"`).join(", ")}: a line may say ${KEYS}`;
  return `"${issue?.path.join(".") || "the line"}": ${issue?.message ?? "is not understood"}`;
}
