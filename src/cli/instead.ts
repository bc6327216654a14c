// The commands of other agents that people type here: what does the same, or that nothing does.

const WORDS: Readonly<Record<string, string>> = {
  login:
    "there is no account here: set ANTHROPIC_API_KEY or OPENAI_API_KEY; `holdfast doctor` says what is found; of an MCP server: `holdfast mcp login`",
  logout: "there is no account here: keys come from the environment; of an MCP server: `holdfast mcp logout`",
  auth: "there is no account here: set ANTHROPIC_API_KEY or OPENAI_API_KEY; `holdfast doctor` says what is found",
  update: "it is updated as it was installed, with npm; `holdfast version` says which one this is",
  upgrade: "it is updated as it was installed, with npm; `holdfast version` says which one this is",
  config: "settings are files, docs/settings.md says which; `holdfast doctor` says what holds here",
  settings: "settings are files, docs/settings.md says which; `holdfast doctor` says what holds here",
  init: "nothing has to be set up: a project begins with its first prompt",
  sessions: "they are called contexts: `holdfast contexts ls`",
  history: "`holdfast contexts ls` lists what was done, `holdfast contexts show` shows one",
};

/** What sends the words behind it to an agent. */
const SENDS = ["exec", "run", "chat", "ask", "e"];

export function insteadOf([first = "", ...rest]: readonly string[]): string | undefined {
  if (Object.hasOwn(WORDS, first)) return WORDS[first];
  if (!SENDS.includes(first) || rest.length === 0) return undefined;
  return `to send words to an agent: holdfast -p "${rest.join(" ")}"`;
}
