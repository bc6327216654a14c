// Owns the json and stream-json formats: the shape that existing wrappers script against (docs/stream-json.md).
import { randomUUID } from "node:crypto";
import type { RunResult } from "../harness.ts";
import type { StoredEvent } from "../ledger/store.ts";
import { LEAD } from "../loop/host.ts";
import type { Content, ReplyPart, Usage } from "../models/model.ts";
import { toClaude } from "../tools/claude-names.ts";
import type { Answer } from "./answer-schema.ts";
import { createPartialMessages } from "./partial-messages.ts";
import { sessionIdOf } from "./session.ts";
import type { Output, Shown } from "./text-output.ts";

const SUBTYPE: Record<RunResult["reason"], string> = {
  done: "success",
  interrupted: "error_during_execution",
  failed: "error_during_execution",
  blocked: "error_during_execution",
  limit: "error_max_turns",
};

interface JsonOptions {
  stream: boolean;
  /** Replies as they come. */
  partial?: boolean;
  /** What the answer is, where it has to fit a schema. */
  answer?: ((text: string) => Answer) | undefined;
}

export function createJsonOutput(opts: JsonOptions): Output {
  let session = "";
  let model = "";
  const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const line = (fields: object) => {
    if (opts.stream) print({ ...fields, session_id: session, uuid: randomUUID() });
  };

  const partial = opts.stream && opts.partial ? createPartialMessages(line, { model: () => model }) : undefined;

  function show(event: StoredEvent): void {
    const { type, data } = event as Shown;
    const from = originOf(event.actor);
    switch (type) {
      case "reply.received":
        if (event.actor === LEAD) partial?.end({ stopReason: stopReasonOf(data.finish), usage: data.usage });
        line({
          type: "assistant",
          message: {
            id: `msg_${event.id}`,
            type: "message",
            role: "assistant",
            model: data.model,
            // Sealed reasoning has nothing to show.
            content: data.parts
              .filter((part) => part.type === "call" || part.text !== "")
              .map((part) => block(part, event.actor)),
            stop_reason: stopReasonOf(data.finish),
            usage: usageOf(data.usage),
          },
          ...from,
        });
        break;
      case "tool.finished":
        line({
          type: "user",
          message: {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: callIdOf(event.actor, data.callId),
                content: resultContent(data.content),
                is_error: data.isError,
              },
            ],
          },
          ...from,
        });
        break;
      case "note.added":
        line(
          data.origin === "jobs" || data.origin === "subtask"
            ? { type: "system", subtype: "task_notification", text: data.text, ...agentOf(event.actor) }
            : {
                type: "user",
                message: { role: "user", content: [{ type: "text", text: data.text }] },
                origin: data.origin,
                ...from,
              },
        );
        break;
      case "input.blocked":
        line({ type: "system", subtype: "input_blocked", input_id: data.inputId, reason: data.reason, ...from });
        break;
      case "message.sent":
        if (data.to === "user" || data.to === "*")
          line({ type: "system", subtype: "message", from: event.actor, text: data.content });
        break;
      case "model.retried":
        line({
          type: "system",
          subtype: "api_retry",
          attempt: data.attempt,
          retry_delay_ms: data.delayMs,
          error_status: data.status ?? null,
          error: data.kind,
          ...agentOf(event.actor),
        });
        break;
      case "model.switched":
        line({
          type: "system",
          subtype: "model_switched",
          from: data.from,
          to: data.to,
          reason: data.reason,
          ...agentOf(event.actor),
        });
        break;
      case "context.elided":
        line({ type: "system", subtype: "compact_boundary", ...agentOf(event.actor) });
        break;
    }
  }

  return {
    init(info) {
      session = sessionIdOf(info.context);
      model = info.model;
      const tools = info.tools.map((name) => toClaude(name, {}).name);
      line({
        type: "system",
        subtype: "init",
        cwd: info.cwd,
        model: info.model,
        tools,
        mcp_servers: [],
        permissionMode: info.permissionMode,
        slash_commands: [],
        skills: [],
      });
    },
    event(event) {
      if (event.type === "event") show(event.event);
      else if (event.progress.type === "delta") partial?.delta(event.progress.delta);
    },
    result(result) {
      session = sessionIdOf(result.context);
      const isError = result.reason !== "done";
      const answer = isError ? undefined : opts.answer?.(result.text);
      print({
        type: "result",
        subtype: result.budget ? "error_max_budget_usd" : SUBTYPE[result.reason],
        is_error: isError,
        duration_ms: result.durationMs,
        num_turns: result.rounds,
        result: isError && result.text === "" ? (result.error ?? result.reason) : result.text,
        ...(answer?.fits ? { structured_output: answer.value } : {}),
        ...(result.error === undefined ? {} : { error: result.error }),
        session_id: session,
        total_cost_usd: result.costUsd ?? null,
        usage: usageOf(result.usage),
        modelUsage: Object.fromEntries(
          Object.entries(result.usageByModel).map(([model, usage]) => [model, usageOf(usage)]),
        ),
        permission_denials: result.denials.map((d) => {
          const { name, input } = toClaude(d.name, d.input);
          return { tool_name: name, tool_use_id: d.callId, tool_input: input, reason: d.reason };
        }),
      });
    },
  };
}

const stopReasonOf = (finish: string): string =>
  finish === "calls" ? "tool_use" : finish === "length" ? "max_tokens" : "end_turn";

/** Calls are numbered by each agent: outside the lead's the agent makes them unique. */
const callIdOf = (actor: string, callId: string): string => (actor === LEAD ? callId : `${actor}.${callId}`);

const agentOf = (actor: string): { agent?: string } => (actor === LEAD ? {} : { agent: actor });

/** Whose words these are. A subagent is named after the call it works for: `lead.c7` for the lead's c7. */
function originOf(actor: string): { parent_tool_use_id: string | null; agent?: string } {
  const call = /^(.+)\.(c\d+)$/.exec(actor);
  return { parent_tool_use_id: call ? callIdOf(call[1]!, call[2]!) : null, ...agentOf(actor) };
}

function block(part: ReplyPart, actor: string): object {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "reasoning") return { type: "thinking", thinking: part.text, signature: part.signature ?? "" };
  const { name, input } = toClaude(part.name, part.input);
  return { type: "tool_use", id: callIdOf(actor, part.id), name, input };
}

const resultContent = (content: Content[]) =>
  content.map((c) =>
    c.type === "text" ? c : { type: c.type, source: { type: "base64", media_type: c.mediaType, data: c.data } },
  );

const usageOf = (u: Usage) => ({
  input_tokens: u.input,
  output_tokens: u.output,
  cache_read_input_tokens: u.cacheRead,
  cache_creation_input_tokens: u.cacheWrite,
});
