// What can be typed with a slash: a few things of the terminal's own, every command of Holdfast's, and what the agent itself takes.
import type { OwnCommandEnd } from "./own-command.ts";

/** What a slash command works on; filled by whoever opened the terminal. */
export interface CommandDesk {
  /** Lines for the transcript. */
  say(lines: readonly string[]): void;
  /** Rows of a table: a left cell, blanks, and what it is. */
  table(rows: readonly string[]): void;
  /** Contract: the id, where there is a context; otherwise it says that there is none yet. */
  contextId(): string | undefined;
  /** A command of Holdfast's own: what it prints is shown. */
  own(words: readonly string[]): Promise<OwnCommandEnd>;
  /** To the agent, as it was typed. */
  send(text: string): Promise<void>;
  /** Opens the conversation anew with these, and goes on with it. */
  reopen(flags: { model?: string; permissionMode?: string }): Promise<void>;
  /** A conversation without a past; the old one stays where it is. */
  clear(): Promise<void>;
  rewind(): Promise<void>;
  fork(checkpoint: string | undefined): Promise<void>;
  resume(): Promise<void>;
  team(): Promise<void>;
  transcript(): Promise<void>;
  cost(): readonly string[];
  /** Model, mode, window, sandbox, context. */
  about(): readonly string[];
  chooseModel(): Promise<void>;
  chooseMode(): Promise<void>;
  leave(): void;
}

export interface SlashCommand {
  name: string;
  help: string;
  run(desk: CommandDesk, words: readonly string[]): Promise<void> | void;
}

const AGENT_FILE =
  "Look at this project and write AGENTS.md for those who work on it: how to set it up, how to run its tests, how its code is laid out, what its conventions are. Keep it short. If it is there already, mend what is wrong or missing in it.";

/** `holdfast NAME …`, with the context where its command is about one. */
const own =
  (...words: string[]): SlashCommand["run"] =>
  async (desk, more) => {
    await desk.own([...words, ...more]);
  };

const ofContext =
  (...words: string[]): SlashCommand["run"] =>
  async (desk, more) => {
    const id = desk.contextId();
    if (id !== undefined) await desk.own([...words, id, ...more]);
  };

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "help", help: "what can be typed, and the keys", run: (desk) => desk.table(helpLines()) },
  {
    name: "model",
    help: "another model: /model sonnet",
    run: (desk, [model]) => (model === undefined ? desk.chooseModel() : desk.reopen({ model })),
  },
  {
    name: "mode",
    help: "what is allowed unasked: /mode acceptEdits",
    run: (desk, [permissionMode]) =>
      permissionMode === undefined ? desk.chooseMode() : desk.reopen({ permissionMode }),
  },
  { name: "clear", help: "a new context; this one is kept", run: (desk) => desk.clear() },
  { name: "resume", help: "go on with another context", run: (desk) => desk.resume() },
  { name: "context", help: "what this is, and how full the window is", run: (desk) => desk.say(desk.about()) },
  { name: "checkpoint", help: "mark this moment: /checkpoint NAME", run: ofContext("contexts", "checkpoint") },
  { name: "rewind", help: "go back to a prompt, with its files", run: (desk) => desk.rewind() },
  {
    name: "fork",
    help: "a second timeline beside this one",
    run: (desk, words) => desk.fork(words.join(" ") || undefined),
  },
  { name: "tasks", help: "the project's task board", run: own("tasks") },
  { name: "team", help: "who does what, and what waits for you", run: (desk) => desk.team() },
  { name: "worktrees", help: "what teams made", run: own("worktrees") },
  { name: "jobs", help: "commands in the background", run: own("jobs") },
  { name: "cron", help: "schedules", run: own("cron") },
  { name: "memory", help: "what is remembered", run: own("memory") },
  { name: "skills", help: "skills there are", run: own("skills") },
  { name: "agents", help: "types of agents there are", run: own("agents") },
  { name: "mcp", help: "MCP servers", run: own("mcp") },
  { name: "instructions", help: "which AGENTS.md, CLAUDE.md and rules apply", run: own("instructions") },
  { name: "permissions", help: "what would be said: /permissions check COMMAND", run: own("permissions") },
  {
    name: "compact",
    help: "make room in the model's view; /compact undo",
    run: (desk, words) => desk.send(["/compact", ...words].join(" ")),
  },
  {
    name: "goal",
    help: "go on until a condition holds: /goal CONDITION",
    run: (desk, words) => desk.send(["/goal", ...words].join(" ")),
  },
  { name: "cost", help: "tokens and money so far", run: (desk) => desk.say(desk.cost()) },
  { name: "init", help: "let the agent write AGENTS.md", run: (desk) => desk.send(AGENT_FILE) },
  { name: "export", help: "this context as a file: /export FILE", run: ofContext("contexts", "export") },
  { name: "transcript", help: "everything so far, to scroll and search", run: (desk) => desk.transcript() },
  { name: "doctor", help: "what works here, what does not", run: own("doctor") },
  { name: "quit", help: "leave; Ctrl-D does it too", run: (desk) => desk.leave() },
];

const ALSO: Readonly<Record<string, string>> = { exit: "quit", q: "quit", new: "clear", "?": "help", undo: "rewind" };

export const slashCommand = (name: string): SlashCommand | undefined =>
  SLASH_COMMANDS.find((one) => one.name === (Object.hasOwn(ALSO, name) ? ALSO[name] : name));

const KEYS: readonly [string, string][] = [
  ["Enter", "send; while it works, at the next round"],
  ["Alt-Enter", "queue: a turn of its own, behind this one"],
  ["Shift-Enter, Ctrl-J", "a new line"],
  ["Esc, Ctrl-C", "interrupt; Ctrl-C twice leaves"],
  ["Esc twice", "go back to an earlier prompt"],
  ["Shift-Tab", "the next mode"],
  ["Ctrl-T", "the team"],
  ["Ctrl-R, Up, Down", "what was typed before"],
  ["@", "a file of the project"],
  ["!command", "run it in your own shell; what comes out goes with your next words"],
];

function helpLines(): string[] {
  const line = ([left, right]: readonly [string, string]) => `  ${left.padEnd(22)}${right}`;
  return [
    "Commands",
    ...SLASH_COMMANDS.map(({ name, help }) => line([`/${name}`, help])),
    "  and /NAME of every skill",
    "Keys",
    ...KEYS.map(line),
  ];
}
