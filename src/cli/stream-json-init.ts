// Owns the first line of stream-json: what there is to work with, in Claude's words.
import { toClaude } from "../tools/claude-names.ts";
import { claudeMode } from "../tools/permission-modes.ts";
import { VERSION } from "../version.ts";
import type { Output } from "./text-output.ts";

/** The Claude Code whose lines these are: the one of the SDK whose published types they are checked against. */
export const LIKE_CLAUDE_CODE = "2.1.325";

export const initFields = ({ cwd, model, tools, agents, permissionMode }: Parameters<Output["init"]>[0]): object => ({
  cwd,
  model,
  tools: tools.map((name) => toClaude(name, {}).name),
  agents,
  mcp_servers: [],
  permissionMode: claudeMode(permissionMode),
  // Anthropic's models are opened with that key and no other.
  apiKeySource: model.startsWith("anthropic/") ? "ANTHROPIC_API_KEY" : "none",
  claude_code_version: LIKE_CLAUDE_CODE,
  holdfast_version: VERSION,
  output_style: "default",
  slash_commands: [],
  skills: [],
  plugins: [],
  capabilities: [],
});
