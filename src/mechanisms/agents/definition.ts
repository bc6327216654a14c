// What a type of agent is: its words, its tools, its model, its limits.

import type { PermissionMode } from "../../claude-code/permission-modes.ts";
import { fileTools, isReader, isWriter } from "../../file-access/file-tools.ts";

export interface AgentDefinition {
  name: string;
  description: string;
  /** Added to the system prompt. */
  instructions: string;
  /** `built-in`, or the file. */
  source: string;
  /** Only these, by our names or Claude's; undefined: all. */
  tools?: string[];
  disallowedTools?: string[];
  /** `sonnet`, `opus`, `haiku`, or provider/name; undefined: its caller's. */
  model?: string;
  /** Counts only where it is stricter. */
  permissionMode?: PermissionMode;
  /** Model calls in a turn. */
  maxRounds?: number;
  isolation?: "worktree";
  background?: boolean;
  color?: string;
  /** Whose text it is given at its start. */
  skills?: string[];
  /** The MCP servers it sees: names of configured ones, or its own by name as `.mcp.json` has them; undefined: its caller's. */
  mcpServers?: (string | Record<string, unknown>)[];
  /** Comes with the project, or with a plugin. */
  repository?: boolean;
  /** Somebody approved all that it came with, as it is: a plugin. */
  approved?: boolean;
}

const READS = [...fileTools(isReader), "bash", "todo_write", "list_tasks", "get_task"];

export const BUILT_IN: readonly AgentDefinition[] = [
  {
    name: "general-purpose",
    description: "Any piece of work, with all tools.",
    instructions: "You do one piece of work for a larger plan, thoroughly, and hand in its result.",
    source: "built-in",
  },
  {
    name: "code-reviewer",
    description: "Reviews work that others did; changes no files.",
    instructions:
      "You review work that others did: correctness first, then clarity. You look at the code itself, run what checks there are, and say what is wrong, where (file and line), why, and how bad it is. You change no files. When nothing is wrong you say so plainly.",
    source: "built-in",
    disallowedTools: fileTools(isWriter),
  },
  {
    name: "explorer",
    description: "Looks things up in the project and reports places; only reads.",
    instructions:
      "You look things up and report what you found, with places (file and line). You change nothing. Search broadly first, then read what matters; say also what you looked for and did not find.",
    source: "built-in",
    tools: READS,
    permissionMode: "plan",
  },
  {
    name: "planner",
    description: "Works out a plan for a change, with the files concerned; only reads.",
    instructions:
      "You work out how something can be done and change nothing. Read the code concerned first. Hand in a plan of steps in order, each with the files it touches, how one sees that it worked, and what could go wrong; name the choices you made and why.",
    source: "built-in",
    tools: READS,
    permissionMode: "plan",
  },
];

/** How Claude Code calls its own. */
const ALSO: Record<string, string> = { explore: "explorer", plan: "planner" };

/** Names are compared without case; a type of the user's goes before another name of ours. */
export function findDefinition(all: readonly AgentDefinition[], type: string): AgentDefinition | undefined {
  const wanted = type.trim().toLowerCase();
  const named = (name: string | undefined) => all.find((one) => one.name.toLowerCase() === name);
  return named(wanted) ?? named(ALSO[wanted]);
}
