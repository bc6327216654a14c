// The first line of stream-json: what there is to work with, in Claude's words.

import { claudeMode } from "../../claude-code/permission-modes.ts";
import { toClaude } from "../../claude-code/tool-names.ts";
import { VERSION } from "../../version.ts";
import type { Output } from "../text/text-output.ts";

/** The Claude Code whose lines these are: the one of the SDK whose published types they are checked against. */
export const LIKE_CLAUDE_CODE = "2.1.325";

export const initFields = ({
  cwd,
  model,
  tools,
  agents,
  servers = [],
  skills = [],
  slashCommands = [],
  permissionMode,
}: Parameters<Output["init"]>[0]): object => ({
  cwd,
  model,
  tools: tools.map((name) => toClaude(name, {}).name),
  agents,
  mcp_servers: servers.map((name) => ({ name, status: "pending" })),
  permissionMode: claudeMode(permissionMode),
  // Anthropic's models are opened with that key and no other.
  apiKeySource: model.startsWith("anthropic/") ? "ANTHROPIC_API_KEY" : "none",
  claude_code_version: LIKE_CLAUDE_CODE,
  holdfast_version: VERSION,
  output_style: "default",
  slash_commands: slashCommands,
  skills,
  plugins: [],
  capabilities: [],
});
