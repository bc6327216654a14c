// Reading one definition: Markdown with front matter as Claude Code writes it; mistakes by file and line.

import { PERMISSION_MODES } from "../../claude-code/permission-modes.ts";
import { readFrontMatter } from "../../definitions/front-matter.ts";
import { own } from "../../ledger/own.ts";
import { isClaudeFamily } from "../../models/catalogue.ts";
import { isNoModel } from "../../models/model-spec.ts";
import type { AgentDefinition } from "./definition.ts";
import { isUnknownTool } from "./tool-list.ts";

export interface ReadDefinition {
  /** Undefined: a mistake was found, and it is left out. */
  definition?: AgentDefinition;
  problems: string[];
  /** Tools that it names and that are not here: it does without. */
  missingTools: string[];
}

/** Known to Claude Code and of no effect here yet. */
const LATER = new Set(["hooks", "memory", "effort", "initialPrompt"]);
/** Dots stand between letters: `powershell-5.1-expert`. */
const NAME = /^(?=.{1,64}$)[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** `repository`: it comes with the project, and may bring no model of its own making. */
export function readDefinition(text: string, source: string, { repository }: { repository: boolean }): ReadDefinition {
  const front = readFrontMatter(text, { keys: [...Object.keys(FIELDS), ...LATER], texts: ["description"] });
  if ("says" in front)
    return { problems: [`${source}:${front.line}: ${front.says}; this agent is left out`], missingTools: [] };
  const { values: read, body, guessed } = front;
  const mistakes: string[] = [];
  const notes = guessed.map(({ line, says }) => `${source}:${line}: ${says}`);
  const missingTools: string[] = [];
  const at = (key: string) => `${source}:${read[key]?.line ?? 1}`;
  const mistake = (key: string, says: string) => void mistakes.push(`${at(key)}: ${says}; this agent is left out`);
  const definition: AgentDefinition = {
    name: "",
    description: "",
    instructions: body.trim(),
    source,
  };
  for (const [key, { value }] of Object.entries(read)) {
    const take = own(FIELDS, key);
    if (take) {
      const note = (says: string) => void notes.push(`${at(key)}: ${says}`);
      const says = take(definition, value, { repository, note, missingTools });
      if (says !== undefined) mistake(key, says);
    } else if (LATER.has(key)) notes.push(`${at(key)}: ${key} is not supported yet: it has no effect`);
    else notes.push(`${at(key)}: ${key} is not known: it has no effect`);
  }
  if (!read.name) mistake("name", "name is missing");
  if (!read.description) mistake("description", "description is missing");
  return mistakes.length > 0
    ? { problems: [...mistakes, ...notes], missingTools: [] }
    : { definition, problems: notes, missingTools: [...new Set(missingTools)] };
}

interface About {
  repository: boolean;
  note(text: string): void;
  missingTools: string[];
}

/** Contract: what is wrong with the value, or undefined when it was taken. */
type Take = (into: AgentDefinition, value: unknown, about: About) => string | undefined;

const FIELDS: Record<string, Take> = {
  name(into, value) {
    if (typeof value !== "string" || !NAME.test(value))
      return "name must be letters, digits, -, _ and dots between them, at most 64";
    into.name = value;
  },
  description(into, value) {
    if (typeof value !== "string" || value.trim() === "") return "description must say when to use it";
    into.description = value.trim();
  },
  tools: (into, value, about) => takeTools(into, "tools", value, about),
  disallowedTools: (into, value, about) => takeTools(into, "disallowedTools", value, about),
  model(into, value, { repository, note }) {
    if (value === null) return;
    if (typeof value !== "string") return "model must be inherit, sonnet, opus, haiku, fable or provider/name";
    if (isNoModel(value)) return;
    if (repository && value.startsWith("rehearsal")) return "a repository cannot bring its own model";
    if (isClaudeFamily(value) || /^(?:claude-.+|rehearsal(?::.+)?|[^/\s]+\/\S+)$/.test(value)) into.model = value;
    else note(`model ${value} is not known (sonnet, opus, haiku, fable, provider/name): it works with its caller's`);
  },
  permissionMode(into, value) {
    const mode = PERMISSION_MODES.find((one) => one === value);
    if (mode === undefined) return `permissionMode must be one of ${PERMISSION_MODES.join(", ")}`;
    into.permissionMode = mode;
  },
  maxTurns(into, value) {
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
      return "maxTurns must be a whole number from 1 on";
    into.maxRounds = value;
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
  skills(into, value) {
    if (value === null) return;
    const names = namesIn(value);
    if (names === undefined) return "skills must be names with commas between, or a list of names";
    into.skills = names;
  },
  mcpServers(into, value) {
    if (value === null) return;
    const entries = namesIn(value) ?? (isNamed(value) ? [value] : value);
    if (!Array.isArray(entries) || !entries.every((one) => typeof one === "string" || isNamed(one)))
      return "mcpServers must be a list of names, or of servers by name as .mcp.json has them";
    into.mcpServers = entries;
  },
};

/** Names with commas between, or a list. */
function namesIn(value: unknown): string[] | undefined {
  const entries: unknown = typeof value === "string" ? value.split(",") : value;
  return isNames(entries) ? entries.map((one) => one.trim()).filter((one) => one !== "") : undefined;
}

const isNamed = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

function takeTools(
  into: AgentDefinition,
  key: "tools" | "disallowedTools",
  value: unknown,
  about: About,
): string | undefined {
  if (value === null) return undefined;
  const entries: unknown = typeof value === "string" ? value.split(/,(?![^(]*\))/) : value;
  if (!isNames(entries)) return `${key} must be names with commas between, or a list of names`;
  const names = entries.map((entry) => entry.trim()).filter((entry) => entry !== "");
  const ruled = names.find((name) => name.includes("("));
  if (ruled !== undefined)
    return `${key} takes whole tools, not ${ruled}: put what it may do with one into the permission rules`;
  about.missingTools.push(...names.filter(isUnknownTool));
  into[key] = names;
  return undefined;
}
