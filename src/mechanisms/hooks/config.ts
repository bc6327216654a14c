// Owns what a hook is: the events, Claude's configuration format, matchers. Settings check it before it comes here.
import { HoldfastError, messageOf } from "../../ledger/error.ts";

/** What an event makes of its hooks. */
interface EventRule {
  /** A matcher is compared with this; without one every hook of the event runs. */
  matches?: "tool" | string;
  /** Exit 2 counts as a block. */
  blocks?: true;
  /** A hook that gave no answer (timeout, throw, cannot be started) counts as a block. */
  failsClosed?: true;
  /** Plain output is text for the model. */
  speaks?: true;
  /** Seconds. */
  timeout?: number;
}

const EVENTS = {
  UserPromptSubmit: { blocks: true, failsClosed: true, speaks: true, timeout: 30 },
  PreToolUse: { matches: "tool", blocks: true, failsClosed: true },
  PermissionRequest: { matches: "tool" },
  PostToolUse: { matches: "tool", blocks: true },
  PostToolUseFailure: { matches: "tool", blocks: true },
  Stop: { blocks: true },
  SubagentStart: { matches: "agent_type" },
  SubagentStop: { matches: "agent_type", blocks: true },
  SessionStart: { matches: "source", speaks: true },
  SessionEnd: { matches: "reason", timeout: 10 },
  PreCompact: { matches: "trigger", blocks: true },
  PostCompact: { matches: "trigger" },
  Notification: { matches: "notification_type" },
  TaskCreated: { blocks: true, failsClosed: true },
  TaskCompleted: { blocks: true, failsClosed: true },
  TeammateIdle: { blocks: true },
  WorktreeCreate: {},
  WorktreeRemove: {},
} satisfies Record<string, EventRule>;

export type HookEvent = keyof typeof EVENTS;

export const ruleOf = (event: HookEvent): EventRule => EVENTS[event];
export const isToolEvent = (event: HookEvent): boolean => ruleOf(event).matches === "tool";

const DEFAULT_TIMEOUT = 600;
export const timeoutMs = (event: HookEvent, seconds: number | undefined): number =>
  Math.min((seconds ?? ruleOf(event).timeout ?? DEFAULT_TIMEOUT) * 1000, 2 ** 31 - 1);

export interface CommandHook {
  type: "command";
  command: string;
  /** Given: `command` is a program and these its arguments; no shell. */
  args?: string[];
  /** Seconds. */
  timeout?: number;
  /** A permission rule, as in `Bash(git *)`: only such calls. */
  if?: string;
  once?: boolean;
  async?: boolean;
  statusMessage?: string;
}

export interface HookGroup {
  matcher?: string;
  hooks: CommandHook[];
  /** Where it was configured, for people: a file, `user`. */
  source?: string;
}

export type HookConfig = Partial<Record<HookEvent, HookGroup[]>>;

const LIST = /^[A-Za-z0-9_\- ,|]*$/;

/** Empty or `*`: all. Names and separators only: exactly these names. Anything else: an unanchored regular expression. */
export function compileMatcher(matcher: string | undefined, source: string): (names: readonly string[]) => boolean {
  const text = matcher?.trim() ?? "";
  if (text === "" || text === "*") return () => true;
  if (LIST.test(text)) {
    const listed = new Set(text.split(/[|,]/).map((name) => name.trim()));
    return (names) => names.some((name) => listed.has(name));
  }
  try {
    const pattern = new RegExp(text);
    return (names) => names.some((name) => pattern.test(name));
  } catch (error) {
    throw new HoldfastError(
      "invalid",
      `a hook of ${source} has a matcher that is no regular expression: ${messageOf(error)}`,
    );
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
