// What a hook is told: the JSON on its stdin, in the names that existing scripts know.

import { callIdOf, claudeCall } from "../../claude-code/call-shape.ts";
import type { HookEvent } from "../../claude-code/hook-events.ts";
import { claudeMode } from "../../claude-code/permission-modes.ts";
import { isRecord } from "../../ledger/guards.ts";
import { LEAD } from "../../loop/agent.ts";
import type { ToolOutput, Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import type { TranscriptPaths } from "./transcript-places.ts";

/** Longer results are cut for hooks: they are made for looking, not for carrying megabytes. */
const MAX_RESPONSE_CHARS = 1_000_000;

export interface HookInput {
  /** The context. */
  session_id: string;
  /** The conversation as JSON lines, in Claude's shape; empty where none is kept (the embedding program's own mechanism). */
  transcript_path: string;
  /** The same of the agent, where it is not the lead. */
  agent_transcript_path?: string;
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

export function hookInput(event: HookEvent, payload: Payload, turn: Turn, told: Told): HookInput {
  const { permissionMode, agentType, transcriptPath = "", agentTranscriptPath } = told;
  const type = agentType ?? (turn.agent === LEAD ? undefined : turn.agent);
  return {
    session_id: turn.context,
    transcript_path: transcriptPath,
    ...(agentTranscriptPath !== undefined && { agent_transcript_path: agentTranscriptPath }),
    cwd: turn.cwd,
    permission_mode: claudeMode(permissionMode),
    ...(turn.agent !== LEAD && { agent_id: turn.agent }),
    ...(type !== undefined && { agent_type: type }),
    hook_event_name: event,
    ...payload,
  };
}

interface Told extends Partial<TranscriptPaths> {
  permissionMode: string;
  agentType?: string;
}

/** A call as scripts know it; paths of files are absolute, as they expect. */
export function callPayload(
  call: { id: string },
  tool: { name: string },
  input: unknown,
  { agent, cwd }: { agent: string; cwd: string },
): Payload {
  const theirs = claudeCall(tool.name, input, cwd);
  return { tool_name: theirs.name, tool_input: theirs.input, tool_use_id: callIdOf(agent, call.id) };
}

/** The result beside its call: the text, and under the names of the tools whose results scripts look into. */
export function resultPayload(call: Payload, output: ToolOutput, durationMs: number): Payload {
  const text = cutText(shown(output.content), MAX_RESPONSE_CHARS);
  const response: Payload = { content: text };
  if (call.tool_name === "Bash") Object.assign(response, { stdout: text, stderr: "", interrupted: false });
  const input = isRecord(call.tool_input) ? call.tool_input : {};
  const path = input.file_path;
  if (path !== undefined) Object.assign(response, { filePath: path, success: !output.isError });
  if (call.tool_name === "Write" && !output.isError) response.content = input.content;
  const file = call.tool_name === "Read" && !output.isError ? linesRead(text) : undefined;
  if (file)
    Object.assign(response, {
      type: "text",
      file: { filePath: path, ...file, totalLines: output.lines ?? file.totalLines },
    });
  return {
    ...call,
    tool_response: response,
    ...(output.isError ? { error: text, is_interrupt: false } : {}),
    duration_ms: durationMs,
  };
}

/** What `read_file` shows, without its numbers: the first line has one, and every fifth. Undefined: it was no text. */
function linesRead(text: string) {
  const lines = text.split("\n").flatMap((line) => {
    const [, number, rest = ""] = /^\s*(\d*)\|(.*)$/s.exec(line) ?? [];
    return number === undefined ? [] : [{ number, rest }];
  });
  const [first] = lines;
  if (!first || first.number === "") return undefined;
  const content = lines.map(({ rest }) => rest).join("\n");
  const startLine = Number(first.number);
  return { content, numLines: lines.length, startLine, totalLines: startLine + lines.length - 1 };
}

function shown(content: ToolOutput["content"]): string {
  if (typeof content === "string") return content;
  return content.map((c) => (c.type === "text" ? textOf([c]) : `[${c.type} ${c.mediaType}]`)).join("\n");
}
