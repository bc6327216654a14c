// The one list of hook events, and what a hook is in settings: Claude's names, what each event makes of its hooks, which are not fired yet.

/** What an event makes of its hooks, and how it is described. The table in docs/hooks.md and the schema of settings are written from it. */
interface RuleParts {
  /** A matcher is compared with this; without one every hook of the event runs. */
  matches?: "tool" | string;
  /** Exit 2 counts as a block; this is what becomes of it, for people. */
  blocks?: string;
  /** No answer in time, or a throw of a function, counts as a block. */
  failsClosed?: true;
  /** Plain output is text for the model. */
  textIsContext?: true;
  /** Nobody waits for its hooks; what they say comes with the next round. */
  inBackground?: true;
  /** Seconds. */
  timeout?: number;
  /** What its hooks are told beside what all are told: the names of the fields. */
  tells?: readonly string[];
}

export type EventRule =
  /** When it happens, for people. */
  | (RuleParts & { when: string; never?: undefined })
  /** Claude Code has it, and nothing here fires it yet: why, for people. */
  | (RuleParts & { when?: undefined; never: string });

const CALL = ["tool_name", "tool_input", "tool_use_id"] as const;
const TASK = ["task_id", "task_subject", "task_description", "teammate_name"] as const;
const TREE = ["name", "worktree_path", "branch"] as const;
const INSTRUCTIONS = ["file_path", "memory_type", "load_reason", "globs", "parent_file_path"] as const;
const SERVER = ["mcp_server_name", "mode"] as const;
const ELICITATION = [...SERVER, "message", "url", "requested_schema"] as const;
const ELICITATION_RESULT = [...SERVER, "action", "content"] as const;
const REPLY = ["stop_hook_active", "last_assistant_message"] as const;

const EVENTS = {
  UserPromptSubmit: {
    when: "an input of origin `user` is taken",
    blocks:
      "the prompt is not taken, and a turn that began for it ends with the reason before any model call (exit code 4), whatever other hooks have said",
    tells: ["prompt"],
    failsClosed: true,
    textIsContext: true,
    timeout: 30,
  },
  PreToolUse: {
    when: "before a call",
    blocks: "the call is refused, the model reads why",
    tells: CALL,
    matches: "tool",
    failsClosed: true,
  },
  PermissionRequest: {
    when: 'a call needs a yes; `decision: {behavior: "deny"}` refuses, exit 2 means nothing, and late it is left to the next (a person)',
    tells: CALL,
    matches: "tool",
  },
  PermissionDenied: {
    when: "the mode or the policy refused a call, or nobody was there to allow it; not for rules, hooks and people. `retry: true` tells the model that it may try again",
    tells: [...CALL, "reason"],
    matches: "tool",
  },
  PostToolUse: {
    when: "after a call",
    blocks: "the reason stands beside the result as feedback",
    tells: [...CALL, "tool_response", "duration_ms"],
    matches: "tool",
  },
  PostToolUseFailure: {
    when: "after a call that failed",
    blocks: "the reason stands beside the result as feedback",
    tells: [...CALL, "tool_response", "error", "is_interrupt", "duration_ms"],
    matches: "tool",
  },
  PostToolBatch: {
    when: "all calls of a reply have their results",
    blocks: "the turn ends with the reason",
    tells: ["tool_calls"],
  },
  Stop: {
    when: "a reply of the lead asks for nothing",
    blocks: "the turn goes on with the reason, 8 times at most (`CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`)",
    tells: REPLY,
  },
  StopFailure: {
    when: "the turn ends because no model answers",
    tells: ["error", "error_details", "last_assistant_message"],
    matches: "error",
  },
  SubagentStart: { when: "the first turn of another agent than the lead", matches: "agent_type" },
  SubagentStop: {
    when: "a reply of another agent than the lead asks for nothing",
    blocks: "as for `Stop`",
    tells: REPLY,
    matches: "agent_type",
  },
  SessionStart: {
    when: "a process takes the lead",
    tells: ["source", "model"],
    matches: "source",
    textIsContext: true,
  },
  SessionEnd: { when: "a process leaves the lead", tells: ["reason"], matches: "reason", timeout: 10 },
  PreCompact: {
    when: "the conversation no longer fits and is to be made smaller",
    blocks: "everything stays as it is: the turn ends with the reason",
    tells: ["trigger", "custom_instructions"],
    matches: "trigger",
  },
  PostCompact: { when: "it was made smaller", tells: ["trigger", "compact_summary"], matches: "trigger" },
  PostModelSwitch: {
    when: "a fallback took over",
    tells: ["from_model", "to_model", "requested_model", "source"],
    inBackground: true,
  },
  Notification: {
    when: "a call waits for a person (`permission_prompt`); the lead has waited a minute for input (`idle_prompt`: `--stay`, stream-json)",
    tells: ["message", "notification_type"],
    matches: "notification_type",
    inBackground: true,
  },
  CwdChanged: {
    when: "before the next model call, when the agent's directory is another",
    tells: ["old_cwd", "new_cwd"],
  },
  TaskCreated: { when: "before a task is made", blocks: "the call is refused", tells: TASK, failsClosed: true },
  TaskCompleted: { when: "before a task is completed", blocks: "the call is refused", tells: TASK, failsClosed: true },
  TeammateIdle: {
    when: "a teammate has nothing left",
    blocks: "it goes on with the reason",
    tells: ["teammate_name", "team_name"],
  },
  WorktreeCreate: { when: "a worktree was made, by a tool or for an agent with `isolation: worktree`", tells: TREE },
  WorktreeRemove: { when: "a worktree was removed", tells: TREE },
  UserPromptExpansion: {
    when: "`/name` of a skill or command, or `/mcp__server__prompt`, before its text is fetched",
    blocks: "the prompt is not taken, as by `UserPromptSubmit`",
    tells: ["expansion_type", "command_name", "command_args", "command_source", "prompt"],
    matches: "command_name",
    failsClosed: true,
    textIsContext: true,
    timeout: 30,
  },
  InstructionsLoaded: {
    when: "a file of instructions is read for an agent, or has changed; each once",
    tells: INSTRUCTIONS,
    matches: "load_reason",
    inBackground: true,
  },
  Elicitation: {
    when: "an MCP server asks the person",
    blocks: "the question is declined, the model reads why. No hook answers in a person's place",
    tells: ELICITATION,
    matches: "mcp_server_name",
    failsClosed: true,
  },
  ElicitationResult: {
    when: "before a person's yes is sent to the MCP server that asked",
    blocks: "the question is declined, the model reads why",
    tells: ELICITATION_RESULT,
    matches: "mcp_server_name",
    failsClosed: true,
  },
  Setup: { matches: "trigger", never: "there is no --init and no --maintenance" },
  PreModelSwitch: { never: "a model changes only when it does not answer, and nobody chooses then" },
  ConfigChange: { matches: "source", never: "settings are read once, at the start" },
  FileChanged: { never: "files are not watched" },
  DirectoryAdded: { never: "directories are given at the start" },
  MessageDisplay: { never: "text is shown as it comes" },
} as const satisfies Record<string, EventRule>;

export type HookEvent = keyof typeof EVENTS;

/** Those that something here fires. */
export type FiredEvent = {
  [E in HookEvent]: (typeof EVENTS)[E] extends { when: string } ? E : never;
}[HookEvent];

/** The names of what hooks of that event are told beside what all are told. */
export type FieldOf<E extends FiredEvent> = (typeof EVENTS)[E] extends { tells: readonly (infer F extends string)[] }
  ? F
  : never;

export const HOOK_EVENTS = Object.keys(EVENTS) as HookEvent[];

export const isHookEvent = (name: string): name is HookEvent => Object.hasOwn(EVENTS, name);

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
