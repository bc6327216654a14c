// Owns the table of `holdfast -p`: its flags, and those of programs that were written for another agent.
import { verb } from "../command.ts";
import { idle, text, toggle } from "../flag.ts";
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
  mcpConfig: idle("FILE|JSON", "MCP servers"),
  strictMcpConfig: idle(undefined, "only the servers of --mcp-config"),
  settingSources: idle("SOURCES", "which settings are read", { same: ["user,project,local"] }),
  tools: idle("LIST", "which tools there are; --disallowedTools takes some away", { same: ["default"] }),
  agents: idle("JSON", "definitions of agents; files in .claude/agents do it"),
  pluginDir: idle("DIR", "a plugin"),
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
};

export const PROMPT = verb({
  words: "[PROMPT …]",
  help: "one turn, then exit",
  flags: {
    print: toggle("the prompt is what follows, else what stands on standard input", { short: "p" }),
    ...RESUME,
    ...RUN,
    jsonSchema: text("FILE|JSON", "the answer is one JSON value that fits this JSON Schema"),
    version: toggle("which one this is", { short: "v" }),
    ...WRAPPERS,
  },
  async run(flags, words) {
    return (await import("../headless.ts")).headless(flags, words);
  },
});
