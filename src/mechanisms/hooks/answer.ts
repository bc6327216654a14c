// What a hook's end means: exit codes and JSON, as Claude reads them; where a decision was not given in time, it refuses.
import * as z from "zod";
import { type HookEvent, ruleOf } from "../../claude-code/hook-events.ts";
import { explain, SELDOM } from "../../ledger/events.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { HookEnd } from "./command.ts";

/** What a hook may say, on stdout or, in-process, by returning it. */
export interface HookOutput {
  continue?: boolean;
  stopReason?: string;
  /** Accepted: a hook's plain output is shown to no one anyway. */
  suppressOutput?: boolean;
  systemMessage?: string;
  decision?: "block" | "approve" | PermissionAnswer;
  reason?: string;
  hookSpecificOutput?: {
    hookEventName?: string;
    permissionDecision?: "allow" | "deny" | "ask" | "defer";
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
    additionalContext?: string;
    updatedToolOutput?: unknown;
    /** PermissionDenied: the model may try that call again. */
    retry?: boolean;
    decision?: PermissionAnswer;
  };
}

interface PermissionAnswer {
  behavior: "allow" | "deny";
  message?: string;
}

export type HookDecision = "allow" | "ask" | "deny";

/** One hook's answer. */
export interface Answered {
  outcome: "ok" | "blocked" | "error" | "timeout";
  exitCode?: number;
  /** Why it blocked, or what went wrong. */
  reason?: string;
  decision?: HookDecision;
  updatedInput?: Record<string, unknown>;
  updatedToolOutput?: unknown;
  context?: string;
  /** The turn is to end, with this reason. */
  stop?: string;
  message?: string;
  retry?: boolean;
}

const NO_REASON = "no reason given";
/** A shell's own codes for what cannot be started, and what to do then. */
const NOT_STARTED: Record<number, string> = {
  126: "it may not be executed: chmod +x",
  127: "there is no such program",
};

export function answerOf(event: HookEvent, end: HookEnd): Answered {
  switch (end.kind) {
    case "timeout":
      return { ...noAnswer(event, `gave no answer within ${end.afterMs / 1000} s`), outcome: "timeout" };
    case "threw":
      return noAnswer(event, `threw: ${end.message}`);
    case "interrupted":
      return noAnswer(event, "interrupted");
    case "not started":
      return unusable(`could not be started: ${end.message}`);
    case "killed":
      return unusable(`was killed by ${end.signal}`);
    case "output": {
      if (end.output === undefined) return { outcome: "ok" };
      const output = readOutput(end.output);
      return "wrong" in output ? noAnswer(event, output.wrong) : said(event, output.says);
    }
    case "exit":
      return { ...exited(event, end), exitCode: end.code };
  }
}

/** Contract: where the event decides something, it is a refusal. */
function noAnswer(event: HookEvent, reason: string): Answered {
  return { outcome: "error", reason, ...(ruleOf(event).failsClosed ? { decision: "deny" as const } : {}) };
}

/** A command that is broken, as opposed to one that says no: reported, and all goes on without it. */
const unusable = (reason: string): Answered => ({ outcome: "error", reason });

function exited(event: HookEvent, { code, stdout, stderr }: Extract<HookEnd, { kind: "exit" }>): Answered {
  if (code === 2 && ruleOf(event).blocks) {
    return { outcome: "blocked", decision: "deny", reason: stderr.trim() || NO_REASON };
  }
  if (code !== 0) {
    const todo = NOT_STARTED[code] === undefined ? "" : ` (${NOT_STARTED[code]})`;
    return unusable(`exit code ${code}${todo}${stderr.trim() === "" ? "" : `: ${stderr.trim()}`}`);
  }
  const text = stdout.trim();
  const { textIsContext } = ruleOf(event);
  if (!text.startsWith("{")) return textIsContext && text !== "" ? { outcome: "ok", context: text } : { outcome: "ok" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return textIsContext ? { outcome: "ok", context: text } : unusable("its output begins like JSON and is none");
  }
  const output = readOutput(value);
  return "wrong" in output ? unusable(output.wrong) : said(event, output.says);
}

type Output = z.infer<ReturnType<typeof makeSchema>>;

function readOutput(value: unknown): { says: Output } | { wrong: string } {
  const parsed = outputSchema().safeParse(withoutNulls(value), SELDOM);
  return parsed.success ? { says: parsed.data } : { wrong: `its output does not fit: ${explain(parsed.error)}` };
}

function said(event: HookEvent, output: Output): Answered {
  const specific = output.hookSpecificOutput ?? {};
  const { decision, reason } = decided(event, output);
  const answer: Answered = { outcome: decision === "deny" ? "blocked" : "ok" };
  if (decision) answer.decision = decision;
  if (decision && (reason !== undefined || decision !== "allow")) answer.reason = reason || NO_REASON;
  if (specific.updatedInput) answer.updatedInput = specific.updatedInput;
  if (specific.updatedToolOutput !== undefined) answer.updatedToolOutput = specific.updatedToolOutput;
  if (specific.additionalContext) answer.context = specific.additionalContext;
  if (output.continue === false) answer.stop = output.stopReason || reason || NO_REASON;
  if (output.systemMessage) answer.message = output.systemMessage;
  if (specific.retry) answer.retry = true;
  return answer;
}

function decided(event: HookEvent, output: Output): { decision?: HookDecision; reason?: string } {
  const { decision, reason, hookSpecificOutput: specific } = output;
  if (event === "PermissionRequest") {
    const answer = specific?.decision ?? (isRecord(decision) ? decision : undefined);
    return answer ? { decision: answer.behavior, reason: answer.message } : {};
  }
  if (decision === "block" && ruleOf(event).blocks) return { decision: "deny", reason };
  if (event !== "PreToolUse") return {};
  const permission = specific?.permissionDecision;
  if (permission)
    return {
      decision: permission === "defer" ? "ask" : permission,
      reason: specific.permissionDecisionReason ?? reason,
    };
  return decision === "approve" ? { decision: "allow", reason } : {};
}

/** Scripts write null for what they have nothing to say about. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const given = Object.entries(value).filter(([, v]) => v !== null);
  return Object.fromEntries(given.map(([k, v]) => [k, k === "hookSpecificOutput" ? withoutNulls(v) : v]));
}

let schema: ReturnType<typeof makeSchema> | undefined;

function outputSchema() {
  schema ??= makeSchema();
  return schema;
}

function makeSchema() {
  const answer = z.object({ behavior: z.enum(["allow", "deny"]), message: z.string().optional() });
  return z.object({
    continue: z.boolean().optional(),
    stopReason: z.string().optional(),
    systemMessage: z.string().optional(),
    decision: z.union([z.enum(["block", "approve"]), answer]).optional(),
    reason: z.string().optional(),
    hookSpecificOutput: z
      .object({
        permissionDecision: z.enum(["allow", "deny", "ask", "defer"]).optional(),
        permissionDecisionReason: z.string().optional(),
        updatedInput: z.record(z.string(), z.unknown()).optional(),
        additionalContext: z.string().optional(),
        updatedToolOutput: z.unknown().optional(),
        retry: z.boolean().optional(),
        decision: answer.optional(),
      })
      .optional(),
  });
}
