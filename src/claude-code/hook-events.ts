// The one list of hook events, and what a hook is in settings: Claude's names, what each event makes of its hooks, which are not fired yet.

/** What an event makes of its hooks. */
export interface EventRule {
  /** A matcher is compared with this; without one every hook of the event runs. */
  matches?: "tool" | string;
  /** Exit 2 counts as a block. */
  blocks?: true;
  /** No answer in time, or a throw of a function, counts as a block. */
  failsClosed?: true;
  /** Plain output is text for the model. */
  speaks?: true;
  /** Nobody waits for its hooks; what they say comes with the next round. */
  beside?: true;
  /** Seconds. */
  timeout?: number;
  /** Claude Code has it, and nothing here fires it yet: why, for people. */
  never?: string;
}

const EVENTS = {
  UserPromptSubmit: { blocks: true, failsClosed: true, speaks: true, timeout: 30 },
  UserPromptExpansion: { matches: "command_name", blocks: true, failsClosed: true, speaks: true, timeout: 30 },
  PreToolUse: { matches: "tool", blocks: true, failsClosed: true },
  PermissionRequest: { matches: "tool" },
  PermissionDenied: { matches: "tool" },
  PostToolUse: { matches: "tool", blocks: true },
  PostToolUseFailure: { matches: "tool", blocks: true },
  PostToolBatch: { blocks: true },
  Stop: { blocks: true },
  StopFailure: { matches: "error" },
  SubagentStart: { matches: "agent_type" },
  SubagentStop: { matches: "agent_type", blocks: true },
  SessionStart: { matches: "source", speaks: true },
  SessionEnd: { matches: "reason", timeout: 10 },
  Setup: { matches: "trigger", never: "there is no --init and no --maintenance" },
  PreCompact: { matches: "trigger", blocks: true },
  PostCompact: { matches: "trigger" },
  PreModelSwitch: { never: "a model changes only when it does not answer, and nobody chooses then" },
  PostModelSwitch: { beside: true },
  Notification: { matches: "notification_type", beside: true },
  TaskCreated: { blocks: true, failsClosed: true },
  TaskCompleted: { blocks: true, failsClosed: true },
  TeammateIdle: { blocks: true },
  WorktreeCreate: {},
  WorktreeRemove: {},
  CwdChanged: {},
  ConfigChange: { matches: "source", never: "settings are read once, at the start" },
  InstructionsLoaded: { matches: "load_reason", beside: true },
  FileChanged: { never: "files are not watched" },
  DirectoryAdded: { never: "directories are given at the start" },
  Elicitation: { matches: "mcp_server_name", blocks: true, failsClosed: true },
  ElicitationResult: { matches: "mcp_server_name", blocks: true, failsClosed: true },
  MessageDisplay: { never: "text is shown as it comes" },
} satisfies Record<string, EventRule>;

export type HookEvent = keyof typeof EVENTS;

export const HOOK_EVENTS = Object.keys(EVENTS) as HookEvent[];

export const ruleOf = (event: HookEvent): EventRule => EVENTS[event];

/** The shells that a hook may be written for. */
export const HOOK_SHELLS = ["bash", "sh"] as const;

export interface CommandHook {
  type: "command";
  command: string;
  /** Given: `command` is a program and these its arguments; no shell. */
  args?: string[];
  /** What `command` is written for: `bash` (default) or `sh`. With any other it is not run, and that is said. */
  shell?: string;
  /** Seconds. */
  timeout?: number;
  /** A permission rule, as in `Bash(git *)`: only such calls. */
  if?: string;
  once?: boolean;
  async?: boolean;
  /** `async`; and where it ends with exit code 2, its stderr is for the model, an idle one too. */
  asyncRewake?: boolean;
  statusMessage?: string;
}

export interface HookGroup {
  matcher?: string;
  hooks: CommandHook[];
}
