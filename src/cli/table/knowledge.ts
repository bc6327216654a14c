// The tables of what agents know and are: agents, skills, memory, MCP servers, plugins.
import { type Command, verb } from "../command.ts";
import { choice, count, text } from "../flag.ts";
import { JSON_TOO, PLACE, POLICY, WORK } from "../flags.ts";

const LOOK = { ...JSON_TOO, ...PLACE };
const agents = () => import("../commands/agents.ts");
const memory = () => import("../commands/memory.ts");
const reading = () => import("../commands/memory-reading.ts");
const READ = {
  model: WORK.model,
  maxTokens: count("N", "stop when so many are read or written by the model (100000)", { spellings: ["max-tokens"] }),
  settings: POLICY.settings,
  quiet: WORK.quiet,
  ...LOOK,
};
const mcp = () => import("../commands/mcp.ts");
const plugins = () => import("../commands/plugins.ts");

const AGENTS: Command = {
  help: "types of agents: built-in, .holdfast/agents, .claude/agents, your own",
  also: ["agent"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "what there is, and from where; mistakes by file and line",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags) => (await agents()).ls(flags),
    }),
    show: verb({
      words: "AGENT",
      help: "one of them, with its instructions",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags, [name]) => (await agents()).show(flags, name),
    }),
  },
};

const SKILLS: Command = {
  help: "skills and commands: .claude/skills, .claude/commands, .agents/skills, your own; type /NAME in a prompt",
  also: ["skill", "commands"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "what there is, and from where; mistakes by file and line",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags) => (await import("../commands/skills.ts")).ls(flags),
    }),
    show: verb({
      words: "SKILL",
      help: "one of them, with its text and the commands it runs",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags, [name]) => (await import("../commands/skills.ts")).show(flags, name!),
    }),
  },
};

const MEMORY: Command = {
  help: "what is remembered of this project, in every context and worktree; what models propose",
  also: ["memories"],
  bare: "ls",
  verbs: {
    ls: verb({ words: "", help: "what is remembered", flags: LOOK, run: async (flags) => (await memory()).ls(flags) }),
    show: verb({
      words: "NAME",
      help: "one of them: its text, who said it, and where",
      flags: LOOK,
      run: async (flags, [name]) => (await memory()).show(flags, name),
    }),
    add: verb({
      words: "NAME TEXT …",
      help: "remember something, or something else under that name",
      flags: {
        type: choice("TYPE", ["user", "feedback", "project", "reference"] as const, "what it is about"),
        description: text("LINE", "what it says in one line"),
        ...LOOK,
      },
      run: async (flags, [name, ...words]) => (await memory()).add(flags, name, words),
    }),
    forget: verb({
      words: "NAME",
      help: "no later context is told of it",
      flags: LOOK,
      run: async (flags, [name]) => (await memory()).forget(flags, name),
    }),
    inbox: verb({
      words: "",
      help: "what models propose, as changes",
      flags: LOOK,
      run: async (flags) => (await memory()).inbox(flags),
    }),
    accept: verb({
      words: "PROPOSAL",
      help: "remember, or forget, what it says",
      flags: LOOK,
      run: async (flags, [id]) => (await memory()).accept(flags, id),
    }),
    reject: verb({
      words: "PROPOSAL",
      help: "drop it",
      flags: LOOK,
      run: async (flags, [id]) => (await memory()).reject(flags, id),
    }),
    extract: verb({
      words: "[CONTEXT]",
      help: "let a model read what was said, and propose what is worth remembering (costs model calls)",
      flags: READ,
      run: async (flags, [given]) => (await reading()).extract(flags, given),
    }),
    consolidate: verb({
      words: "",
      help: "let a model read what is remembered, and propose how to say it in less (costs model calls)",
      flags: READ,
      run: async (flags) => (await reading()).consolidate(flags),
    }),
  },
};

const MCP: Command = {
  help: "MCP servers: .mcp.json, mcpServers of your settings",
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "which there are, and from where",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags) => (await mcp()).ls(flags),
    }),
    show: verb({
      words: "SERVER",
      help: "connect one: its tools, what it says about itself",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags, [name]) => (await mcp()).show(flags, name),
    }),
    login: verb({
      words: "SERVER",
      help: "to one over HTTP, by way of your browser",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags, [name]) => (await mcp()).login(flags, name),
    }),
    logout: verb({
      words: "SERVER",
      help: "forget what the login gave",
      flags: { trust: POLICY.trust, ...LOOK },
      run: async (flags, [name]) => (await mcp()).logout(flags, name),
    }),
  },
};

const PLUGINS: Command = {
  help: "folders with skills, commands, agents, hooks and MCP servers, as Claude Code's plugins are",
  also: ["plugin"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "those that are used",
      flags: LOOK,
      run: async (flags) => (await plugins()).ls(flags),
    }),
    add: verb({
      words: "DIR",
      help: "trust the plugin in DIR as it is, and use it in every project",
      flags: LOOK,
      run: async (flags, [dir]) => (await plugins()).add(flags, dir),
    }),
    remove: verb({
      words: "PLUGIN",
      help: "use it no longer",
      flags: LOOK,
      run: async (flags, [name]) => (await plugins()).remove(flags, name),
    }),
  },
};

/** In the order of help. */
export const KNOWLEDGE_COMMANDS: Readonly<Record<string, Command>> = {
  agents: AGENTS,
  skills: SKILLS,
  memory: MEMORY,
  mcp: MCP,
  plugins: PLUGINS,
};
