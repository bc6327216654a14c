// The table of `holdfast -p`: its flags, and those of programs that were written for another agent.
import { readFileSync } from "node:fs";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { verb } from "../command.ts";
import { idle, text, texts, toggle } from "../flag.ts";
import { RESUME, RUN } from "../flags.ts";

/** What makes words a prompt, whatever they are. */
export const PRINT = ["-p", "--print"];

/** As the SDKs and wrappers of Claude Code know them. Those that are `idle` are accepted, and one line says that they do nothing. */
const WRAPPERS = {
  sessionId: text("UUID", "the id of a new context, for programs that keep their own"),
  forkSession: toggle("with -c or -r: go on in a copy, and leave the original as it is"),
  includePartialMessages: toggle("with stream-json: text as it comes, as stream_event lines"),
  replayUserMessages: toggle("with stream-json: each input is repeated once it is kept"),
  verbose: toggle("as it always is here: stream-json has every message"),
  allowDangerouslySkipPermissions: toggle("as it always is here: bypassPermissions may be chosen"),
  permissionPromptTool: idle("NAME", "approvals over the protocol; --approvals wait and `holdfast approve` do it"),
  mcpConfig: texts("FILE|JSON", "MCP servers of this run, as .mcp.json has them"),
  strictMcpConfig: toggle("only the MCP servers of --mcp-config"),
  settingSources: idle("SOURCES", "which settings are read", { same: ["user,project,local"] }),
  tools: text("LIST", 'only these tools are offered: "Read,Bash"; "" is none, default all'),
  name: text("TITLE", "what a new context is called"),
  systemPromptFile: text("FILE", "--system-prompt, from a file"),
  appendSystemPromptFile: text("FILE", "--append-system-prompt, from a file"),
  agents: idle("JSON", "definitions of agents; files in .claude/agents do it"),
  pluginDir: texts("DIR", "use the plugin in DIR; with --trust as it is now"),
  effort: idle("LEVEL", "how hard the model thinks"),
  thinking: idle("MODE", "whether the model thinks"),
  thinkingDisplay: idle("MODE", "whether thinking is shown"),
  maxThinkingTokens: idle("N", "how long the model thinks"),
  resumeSessionAt: idle("UUID", "where to go on; `contexts restore` and `contexts fork` do it"),
  rewindFiles: idle("UUID", "files as they were; `contexts restore --only files` does it"),
  noSessionPersistence: idle(undefined, "keep nothing; everything is kept here"),
  includeHookEvents: idle(undefined, "hooks in stream-json"),
  sessionMirror: idle(undefined, "a copy of the session"),
  betas: idle("NAMES", "beta features of a provider"),
  debugFile: idle("FILE", "a log"),
  debugToStderr: idle(undefined, "a log"),
  enableAuthStatus: idle(undefined, "who is logged in"),
  taskBudget: idle("N", "tokens; --max-budget-usd is there"),
  ide: idle(undefined, "an editor"),
  chrome: idle(undefined, "a browser"),
  noChrome: idle(undefined, "a browser"),
  safeMode: idle(undefined, "no settings of one's own"),
  bare: idle(undefined, "nothing but the prompt"),
  disableSlashCommands: idle(undefined, "no slash commands; there are none"),
  file: idle("SPEC", "files to fetch"),
  promptSuggestions: idle("MODE", "what one might ask next"),
  forwardSubagentText: idle(undefined, "what subagents say; stream-json always has it"),
  pluginUrl: idle("URL", "a plugin"),
  resumeDropsTurn: idle("UUID", "where to go on; `contexts restore` and `contexts fork` do it"),
  projectConfigRoot: idle("DIR", "where the project's settings are"),
  permissionPrompts: idle("MODE", "who is asked; --approvals says it"),
};

interface Prompts {
  systemPrompt?: string | undefined;
  appendSystemPrompt?: string | undefined;
  systemPromptFile?: string | undefined;
  appendSystemPromptFile?: string | undefined;
}

function withPromptFiles<F extends Prompts>(flags: F): F {
  const { systemPromptFile: whole, appendSystemPromptFile: more } = flags;
  return {
    ...flags,
    ...(whole !== undefined && { systemPrompt: textIn(whole, "--system-prompt-file") }),
    ...(more !== undefined && { appendSystemPrompt: textIn(more, "--append-system-prompt-file") }),
  };
}

function textIn(file: string, flag: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new HoldfastError("invalid", `${flag} ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Somebody sits there, and wants no more than that. Without a terminal a context is gone on with as with -p. */
function isInteractive(flags: {
  print: boolean;
  continue: boolean;
  resume?: string | undefined;
  outputFormat: string;
  inputFormat: string;
}): boolean {
  if (flags.print || flags.outputFormat !== "text" || flags.inputFormat !== "text") return false;
  if (process.stdin.isTTY && process.stdout.isTTY) return true;
  if (flags.continue || flags.resume !== undefined) return false;
  throw new HoldfastError("invalid", 'there is no terminal here: use holdfast -p "what to do"');
}

export const PROMPT = verb({
  words: "[PROMPT …]",
  help: "the terminal; with -p one turn, then exit",
  flags: {
    print: toggle("the prompt is what follows, else what stands on standard input", { short: "p" }),
    ...RESUME,
    ...RUN,
    screenReader: toggle("the terminal in plain lines: nothing is drawn over, no timer"),
    goal: text("CONDITION", "go on until an evaluator says that this is met (exit code 1: not reached)"),
    jsonSchema: text("FILE|JSON", "the answer is one JSON value that fits this JSON Schema"),
    version: toggle("which one this is", { short: "v" }),
    ...WRAPPERS,
  },
  async run(flags, words) {
    const given = withPromptFiles(flags);
    if (!isInteractive(flags)) return (await import("../headless.ts")).headless(given, words);
    return (await import("../terminal/interactive.ts")).interactive(given, words);
  },
});
