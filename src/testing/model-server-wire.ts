// How the scripted model server speaks: a round as the chunks of a stream, or as one body, in each wire format.
import { argumentsOf, named, pieces, reasoningOf, sse, usageOf } from "./model-server-pieces.ts";
import { providerOf } from "./model-server-providers.ts";
import { responsesChunks, responsesErrorChunk, responsesWhole } from "./model-server-responses.ts";
import type { ScriptCall, ScriptRequest, ScriptRound } from "./model-server-script.ts";

export function chunksOf(request: ScriptRequest, round: ScriptRound): string[] {
  if (round.chunks) return round.chunks;
  if (request.api === "openai-responses") return responsesChunks(request, round);
  return request.api === "anthropic" ? anthropicChunks(request, round) : openaiChunks(request, round);
}

export function wholeOf(request: ScriptRequest, round: ScriptRound): unknown {
  if (request.api === "openai-responses") return responsesWhole(request, round);
  return request.api === "anthropic" ? anthropicMessage(request, round) : openaiCompletion(request, round);
}

export function errorBody(
  api: ScriptRequest["api"],
  error: { type: string; message: string; code?: string; param?: string },
): unknown {
  if (api === "anthropic") return { type: "error", error: { type: error.type, message: error.message } };
  const { message, type, code = null, param = null } = error;
  return { error: { message, type, param, code } };
}

export function errorChunk(
  api: ScriptRequest["api"],
  error: { type: string; message: string; ends?: boolean },
): string {
  if (api === "openai-responses") return responsesErrorChunk(error);
  return api === "anthropic" ? named(errorBody(api, error) as { type: string }) : sse(errorBody(api, error));
}

function anthropicStop(round: ScriptRound): string {
  if (round.finish === "length") return "max_tokens";
  if (round.finish === "refused") return "refusal";
  return round.calls?.length ? "tool_use" : "end_turn";
}

function anthropicBlocks(request: ScriptRequest, round: ScriptRound) {
  const blocks: { start: Record<string, unknown>; deltas: Record<string, unknown>[] }[] = [];
  const reasoning = reasoningOf(round);
  if (reasoning?.redacted !== undefined) {
    blocks.push({ start: { type: "redacted_thinking", data: reasoning.redacted }, deltas: [] });
  } else if (reasoning) {
    const deltas: Record<string, unknown>[] = [{ type: "thinking_delta", thinking: reasoning.text }];
    if (reasoning.signature) deltas.push({ type: "signature_delta", signature: reasoning.signature });
    blocks.push({ start: { type: "thinking", thinking: "", signature: "" }, deltas });
  }
  if (round.text) {
    const deltas = pieces(round.text, round.pieces ?? 3).map((text) => ({ type: "text_delta", text }));
    blocks.push({ start: { type: "text", text: "" }, deltas });
  }
  round.calls?.forEach((call, i) => {
    const id = call.id ?? `toolu_${request.round}_${i}`;
    const deltas = pieces(argumentsOf(call), 2).map((json) => ({ type: "input_json_delta", partial_json: json }));
    blocks.push({ start: { type: "tool_use", id, name: call.name, input: {} }, deltas });
  });
  return blocks;
}

function anthropicUsage(round: ScriptRound) {
  const usage = usageOf(round);
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
}

function anthropicHead(request: ScriptRequest) {
  return { id: `msg_${request.arrival}`, type: "message", role: "assistant", model: request.model };
}

function anthropicChunks(request: ScriptRequest, round: ScriptRound): string[] {
  const usage = anthropicUsage(round);
  const message = { ...anthropicHead(request), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const out = [named({ type: "message_start", message })];
  anthropicBlocks(request, round).forEach((block, index) => {
    out.push(named({ type: "content_block_start", index, content_block: block.start }));
    for (const delta of block.deltas) out.push(named({ type: "content_block_delta", index, delta }));
    out.push(named({ type: "content_block_stop", index }));
  });
  const delta = { stop_reason: anthropicStop(round), stop_sequence: null };
  out.push(named({ type: "message_delta", delta, usage: { output_tokens: usage.output_tokens } }));
  out.push(named({ type: "message_stop" }));
  return out;
}

function anthropicMessage(request: ScriptRequest, round: ScriptRound): unknown {
  const content = anthropicBlocks(request, round).map(({ start, deltas }) => {
    const joined = (key: string) => deltas.map((delta) => delta[key] ?? "").join("");
    if (start.type === "text") return { ...start, text: joined("text") };
    if (start.type === "thinking") return { ...start, thinking: joined("thinking"), signature: joined("signature") };
    if (start.type === "tool_use") return { ...start, input: JSON.parse(joined("partial_json") || "{}") };
    return start;
  });
  return { ...anthropicHead(request), content, stop_reason: anthropicStop(round), usage: anthropicUsage(round) };
}

function openaiFinish(round: ScriptRound): string {
  if (round.finish === "length") return "length";
  if (round.finish === "refused") return "content_filter";
  return round.calls?.length ? "tool_calls" : "stop";
}

function openaiUsage(round: ScriptRound) {
  const usage = usageOf(round);
  const prompt = usage.input + usage.cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}

const openaiCallId = (request: ScriptRequest, call: ScriptCall, i: number) => call.id ?? `call_${request.round}_${i}`;

function openaiChunks(request: ScriptRequest, round: ScriptRound): string[] {
  const head = { id: `chatcmpl-${request.arrival}`, object: "chat.completion.chunk", created: 0, model: request.model };
  const chunk = (delta: unknown, finish: string | null = null) =>
    sse({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
  const out = [chunk({ role: "assistant", content: "" })];
  const reasoning = reasoningOf(round)?.text;
  const provider = providerOf(request);
  if (reasoning) {
    const deltas = provider.reasoning?.(reasoning, request) ?? [{ reasoning_content: reasoning }];
    out.push(...deltas.map((delta) => chunk(delta)));
  }
  for (const content of pieces(round.text ?? "", round.pieces ?? 3)) out.push(chunk({ content }));
  round.calls?.forEach((call, index) => {
    const id = openaiCallId(request, call, index);
    const more = index === 0 ? provider.firstCall?.(request) : {};
    const called = { name: call.name, arguments: "" };
    out.push(chunk({ tool_calls: [{ index, id, type: "function", function: called, ...more }] }));
    for (const part of pieces(argumentsOf(call), 2)) {
      out.push(chunk({ tool_calls: [{ index, function: { arguments: part } }] }));
    }
  });
  out.push(chunk({}, openaiFinish(round)));
  if (request.body.stream_options?.include_usage) out.push(sse({ ...head, choices: [], usage: openaiUsage(round) }));
  out.push("data: [DONE]\n\n");
  return out;
}

function openaiCompletion(request: ScriptRequest, round: ScriptRound): unknown {
  const reasoning = reasoningOf(round)?.text;
  const calls = round.calls?.map((call, i) => ({
    id: openaiCallId(request, call, i),
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const message = {
    role: "assistant",
    content: round.text ?? null,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(calls ? { tool_calls: calls } : {}),
  };
  return {
    id: `chatcmpl-${request.arrival}`,
    object: "chat.completion",
    model: request.model,
    choices: [{ index: 0, message, finish_reason: openaiFinish(round) }],
    usage: openaiUsage(round),
  };
}
