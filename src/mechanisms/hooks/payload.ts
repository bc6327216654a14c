// Owns what a hook is told: the JSON on its stdin, in the names that existing scripts know.
import { LEAD } from "../../loop/host.ts";
import type { ToolOutput, Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { toClaude } from "../../tools/claude-names.ts";
import { isKept } from "../../tools/kept-results.ts";
import { resolvePath } from "../../tools/paths.ts";
import { cutText } from "../../tools/text.ts";
import { type HookEvent, isRecord } from "./config.ts";

/** Longer results are cut for hooks: they are made for looking, not for carrying megabytes. */
const MAX_RESPONSE_CHARS = 1_000_000;

export interface HookInput {
  /** The context. */
  session_id: string;
  /** Always empty: the transcript is a ledger, no file. */
  transcript_path: string;
  cwd: string;
  permission_mode: string;
  hook_event_name: HookEvent;
  agent_id?: string;
  agent_type?: string;
  tool_name?: string;
  tool_input?: unknown;
  tool_use_id?: string;
  tool_response?: unknown;
  duration_ms?: number;
  prompt?: string;
  stop_hook_active?: boolean;
  [more: string]: unknown;
}

export type Payload = Record<string, unknown>;

export function hookInput(
  event: HookEvent,
  payload: Payload,
  turn: Turn,
  told: { permissionMode: string; agentType?: string },
): HookInput {
  return {
    session_id: turn.context,
    transcript_path: "",
    cwd: turn.cwd,
    permission_mode: told.permissionMode,
    ...(turn.agent === LEAD ? {} : { agent_id: turn.agent, agent_type: told.agentType ?? turn.agent }),
    hook_event_name: event,
    ...payload,
  };
}

/** A call as scripts know it; paths of files are absolute, as they expect. */
export function callPayload(call: { id: string }, tool: { name: string }, input: unknown, cwd: string): Payload {
  const theirs = toClaude(tool.name, input);
  return { tool_name: theirs.name, tool_input: absolute(theirs.input, cwd), tool_use_id: call.id };
}

function absolute(input: unknown, cwd: string): unknown {
  if (!isRecord(input) || typeof input.file_path !== "string" || isKept(input.file_path)) return input;
  return { ...input, file_path: resolvePath(cwd, input.file_path) };
}

/** The result beside its call: the text, and under the names of the tools whose results scripts look into. */
export function resultPayload(call: Payload, output: ToolOutput, durationMs: number): Payload {
  const text = cutText(shown(output.content), MAX_RESPONSE_CHARS);
  const response: Payload = { content: text };
  if (call.tool_name === "Bash") Object.assign(response, { stdout: text, stderr: "", interrupted: false });
  const path = isRecord(call.tool_input) ? call.tool_input.file_path : undefined;
  if (path !== undefined) Object.assign(response, { filePath: path, success: !output.isError });
  return {
    ...call,
    tool_response: response,
    ...(output.isError ? { error: text, is_interrupt: false } : {}),
    duration_ms: durationMs,
  };
}

function shown(content: ToolOutput["content"]): string {
  if (typeof content === "string") return content;
  return content.map((c) => (c.type === "text" ? textOf([c]) : `[${c.type} ${c.mediaType}]`)).join("\n");
}
