// Which tools a definition leaves to its agent; names are Claude's or ours.
import { claudeNames, isClaudeName } from "../../claude-code/tool-names.ts";
import type { DefinedAgent } from "./events.ts";

/** Whoever may run commands may look after those that run in the background. */
const WITH_BASH = ["job_output", "job_kill", "list_jobs"];

/** Contract: `always` are tools by which agents hand in their part: a list of tools does not take them away, a refusal by name does. */
export function leaves(
  { tools, disallowedTools = [] }: Pick<DefinedAgent, "tools" | "disallowedTools">,
  tool: string,
  always: readonly string[],
): boolean {
  if (disallowedTools.some((entry) => means(entry, tool))) return false;
  if (tools === undefined || always.includes(tool)) return true;
  if (tools.some((entry) => means(entry, tool))) return true;
  return WITH_BASH.includes(tool) && tools.some((entry) => means(entry, "bash"));
}

function means(entry: string, tool: string): boolean {
  if (entry === "*" || entry === tool || claudeNames(tool).includes(entry)) return true;
  if (/^mcp__[^*]+$/.test(entry) && !entry.slice(5).includes("__")) return tool.startsWith(`${entry}__`);
  return /^mcp__.*\*$/.test(entry) && tool.startsWith(entry.slice(0, -1));
}

/** A name that no tool has here. Ours are lower case, those of servers begin with mcp__. */
export const isUnknownTool = (entry: string): boolean =>
  entry !== "*" && /[A-Z]/.test(entry[0] ?? "") && !isClaudeName(entry);
