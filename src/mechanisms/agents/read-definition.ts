// Owns reading one definition: Markdown with front matter as Claude Code writes it; mistakes by file and line.
import { isMap, isScalar, LineCounter, type ParsedNode, parseDocument } from "yaml";
import { own } from "../../ledger/own.ts";
import type { AgentDefinition } from "./definition.ts";
import { PERMISSION_MODES, type PermissionMode } from "./events.ts";
import { isUnknownTool } from "./tool-list.ts";

export interface ReadDefinition {
  /** Undefined: a mistake was found, and it is left out. */
  definition?: AgentDefinition;
  problems: string[];
}

/** Known to Claude Code and of no effect here yet. */
const LATER = new Set(["skills", "mcpServers", "hooks", "memory", "effort", "initialPrompt"]);
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const FRONT = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

type Values = Record<string, { value: unknown; line: number }>;

/** `repository`: it comes with the project, and may bring no model of its own making. */
export function readDefinition(text: string, source: string, { repository }: { repository: boolean }): ReadDefinition {
  const front = FRONT.exec(text);
  if (!front || front.index > 0)
    return wrong(source, 1, "there is no front matter: begin with ---, name, description, ---");
  const read = valuesOf(front[1]!);
  if (typeof read === "string") return wrong(source, 2, `the front matter is not valid YAML: ${read}`);
  const mistakes: string[] = [];
  const notes: string[] = [];
  const at = (key: string) => `${source}:${read[key]?.line ?? 1}`;
  const mistake = (key: string, says: string) => void mistakes.push(`${at(key)}: ${says}; this agent is left out`);
  const definition: AgentDefinition = {
    name: "",
    description: "",
    instructions: text.slice(front[0].length).trim(),
    source,
  };
  for (const [key, { value }] of Object.entries(read)) {
    const take = own(FIELDS, key);
    if (take) {
      const says = take(definition, value, { repository, note: (note) => notes.push(`${at(key)}: ${note}`) });
      if (says !== undefined) mistake(key, says);
    } else if (LATER.has(key)) notes.push(`${at(key)}: ${key} is not supported yet: it has no effect`);
    else notes.push(`${at(key)}: ${key} is not known: it has no effect`);
  }
  if (!read.name) mistake("name", "name is missing");
  if (!read.description) mistake("description", "description is missing");
  return mistakes.length > 0 ? { problems: [...mistakes, ...notes] } : { definition, problems: notes };
}

const wrong = (source: string, line: number, says: string): ReadDefinition => ({
  problems: [`${source}:${line}: ${says}; this agent is left out`],
});

interface About {
  repository: boolean;
  note(text: string): void;
}

/** Contract: what is wrong with the value, or undefined when it was taken. */
type Take = (into: AgentDefinition, value: unknown, about: About) => string | undefined;

const FIELDS: Record<string, Take> = {
  name(into, value) {
    if (typeof value !== "string" || !NAME.test(value)) return "name must be letters, digits, - and _, at most 64";
    into.name = value;
  },
  description(into, value) {
    if (typeof value !== "string" || value.trim() === "") return "description must say when to use it";
    into.description = value.trim();
  },
  tools: (into, value, about) => takeTools(into, "tools", value, about),
  disallowedTools: (into, value, about) => takeTools(into, "disallowedTools", value, about),
  model(into, value, { repository }) {
    if (value === "inherit" || value === null) return;
    if (typeof value !== "string") return "model must be inherit, sonnet, opus, haiku or provider/name";
    if (repository && value.startsWith("rehearsal")) return "a repository cannot bring its own model";
    if (!/^(?:sonnet|opus|haiku|claude-.+|rehearsal(?::.+)?|[^/\s]+\/\S+)$/.test(value))
      return `model ${value} is not inherit, sonnet, opus, haiku or provider/name`;
    into.model = value;
  },
  permissionMode(into, value) {
    if (!PERMISSION_MODES.includes(value as PermissionMode))
      return `permissionMode must be one of ${PERMISSION_MODES.join(", ")}`;
    into.permissionMode = value as PermissionMode;
  },
  maxTurns(into, value) {
    if (!Number.isSafeInteger(value) || (value as number) < 1) return "maxTurns must be a whole number from 1 on";
    into.maxRounds = value as number;
  },
  isolation(into, value) {
    if (value !== "worktree") return "isolation can only be worktree";
    into.isolation = "worktree";
  },
  background(into, value) {
    if (typeof value !== "boolean") return "background must be true or false";
    if (value) into.background = true;
  },
  color(into, value) {
    if (typeof value === "string") into.color = value;
  },
};

function takeTools(
  into: AgentDefinition,
  key: "tools" | "disallowedTools",
  value: unknown,
  about: About,
): string | undefined {
  if (value === null) return undefined;
  const entries = typeof value === "string" ? value.split(/,(?![^(]*\))/) : value;
  if (!Array.isArray(entries) || entries.some((entry) => typeof entry !== "string"))
    return `${key} must be names with commas between, or a list of names`;
  const names = (entries as string[]).map((entry) => entry.trim()).filter((entry) => entry !== "");
  const ruled = names.find((name) => name.includes("("));
  if (ruled !== undefined)
    return `${key} takes whole tools, not ${ruled}: put what it may do with one into the permission rules`;
  for (const name of names.filter(isUnknownTool)) about.note(`there is no tool ${name} here`);
  into[key] = names;
  return undefined;
}

/** Every key with its line in the file, or what is wrong. */
function valuesOf(text: string): Values | string {
  const lines = new LineCounter();
  let document = parseDocument(text, { prettyErrors: false, lineCounter: lines });
  // Many files in the wild have a colon in an unquoted description, which is no YAML; such lines are taken as they stand.
  if (document.errors.length > 0) document = parseDocument(quoted(text), { prettyErrors: false, lineCounter: lines });
  if (document.errors.length > 0) return document.errors[0]!.message.split("\n")[0]!;
  if (!isMap<ParsedNode>(document.contents)) return "it is not a map of names to values";
  const values: Values = {};
  for (const { key, value } of document.contents.items) {
    if (!isScalar(key)) return "a name is not plain";
    const line = text.slice(0, key.range?.[0] ?? 0).split("\n").length + 1;
    values[String(key.value)] = { value: (value as ParsedNode | null)?.toJS(document) ?? null, line };
  }
  return values;
}

const quoted = (text: string): string =>
  text.replace(/^([A-Za-z]+):[ \t]+([^\s"'[{|>&*!#].*)$/gm, (_, key: string, rest: string) =>
    rest.includes(": ") || / #/.test(rest) ? `${key}: ${JSON.stringify(rest.trimEnd())}` : `${key}: ${rest}`,
  );
