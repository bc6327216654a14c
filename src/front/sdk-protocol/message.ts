// Messages as Anthropic's SDKs read them: content blocks, usage, ids, who said it.

import { callIdOf, claudeCall } from "../../claude-code/call-shape.ts";
import { toClaude } from "../../claude-code/tool-names.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { Content, Finish, Reply, ReplyPart, Usage } from "../../models/model.ts";

/** As the table says it, file paths absolute; the name of a file that nobody would open stays as it was written. */
export function callSaid(name: string, input: unknown, cwd: string): { name: string; input: unknown } {
  try {
    return claudeCall(name, input, cwd);
  } catch {
    return toClaude(name, input);
  }
}

export type Block =
  | { type: "text"; text: string; citations: null }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "tool_use"; id: string; name: string; input: unknown };

/** Sealed reasoning has nothing to show. */
export const blocksOf = (parts: readonly ReplyPart[], actor: string, cwd: string): Block[] =>
  parts.filter((part) => part.type === "call" || part.text !== "").map((part) => blockOf(part, actor, cwd));

function blockOf(part: ReplyPart, actor: string, cwd: string): Block {
  if (part.type === "text") return { type: "text", text: part.text, citations: null };
  if (part.type === "reasoning") return { type: "thinking", thinking: part.text, signature: part.signature ?? "" };
  const { name, input = {} } = callSaid(part.name, part.input, cwd);
  return { type: "tool_use", id: callIdOf(actor, part.id), name, input };
}

const STOP_REASONS: Record<Finish, string | null> = {
  stop: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  refused: "refusal",
  other: null,
};

export const stopReasonOf = (finish: Finish): string | null => STOP_REASONS[finish];

/** What we do not know of a message is null, as its type allows. */
const UNKNOWN = { container: null, context_management: null, diagnostics: null, stop_details: null };

export const sdkMessage = (
  id: string,
  { model, content, stopReason, usage }: { model: string; content: Block[]; stopReason: string | null; usage: object },
): object => ({
  id,
  type: "message",
  role: "assistant",
  model,
  content,
  stop_reason: stopReason,
  stop_sequence: null,
  ...UNKNOWN,
  usage,
});

/** The id of the message that a reply is. */
export const messageId = (event: StoredEvent): string => `msg_${event.id}`;

/** `used` by model. What no model tells us is null; server tools are never asked for. */
export function sdkUsage(used: Record<string, Usage>): object {
  return {
    ...sdkCounts(used),
    cache_creation: lifetimesOf(used),
    inference_geo: null,
    service_tier: null,
    speed: null,
  };
}

/** What of it the end of a streamed message says. */
export function sdkCounts(used: Record<string, Usage>) {
  const sum = (count: keyof Usage) => Object.values(used).reduce((all, usage) => all + usage[count], 0);
  return {
    input_tokens: sum("input"),
    output_tokens: sum("output"),
    cache_read_input_tokens: sum("cacheRead"),
    cache_creation_input_tokens: sum("cacheWrite"),
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    output_tokens_details: null,
    iterations: null,
    fallback_credit: null,
  };
}

/** Anthropic's models are asked for five minutes; how long others keep it nobody says, and it counts in neither. */
function lifetimesOf(used: Record<string, Usage>): object {
  const known = Object.entries(used).filter(([model]) => model.startsWith("anthropic/"));
  const written = known.reduce((all, [, usage]) => all + usage.cacheWrite, 0);
  return { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 };
}

export const usageOfReply = ({ model, usage }: Pick<Reply, "model" | "usage">): object => sdkUsage({ [model]: usage });

export const resultContent = (content: readonly Content[]): object[] =>
  content.map((c) => {
    if (c.type === "text") return c;
    const source = { type: "base64", media_type: c.mediaType, data: c.data };
    return c.type === "image" ? { type: "image", source } : { type: "document", source, title: c.name };
  });

interface NoteOrigin {
  kind: string;
  subkind?: string;
  from?: string;
}

/** Where the text of a note comes from, in the published words; none of them fits most of ours. */
export function originOf(origin: string, isAgent: boolean): NoteOrigin | undefined {
  if (origin === "jobs" || origin === "subtask") return { kind: "task-notification" };
  if (origin === "cron") return { kind: "task-notification", subkind: "scheduled-trigger" };
  if (origin === "recovery") return { kind: "auto-continuation" };
  return isAgent ? { kind: "peer", from: origin } : undefined;
}
