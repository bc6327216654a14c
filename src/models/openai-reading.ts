// Owns reading a Chat Completions answer: chunks of a stream, or a whole one, into one reply.
import { parseCallInput } from "./call-input.ts";
import { errorFromEvent } from "./http-error.ts";
import { parseJson, type Sink } from "./http-stream.ts";
import { type Delta, type Finish, noUsage, type Reply, type ReplyPart, type Usage } from "./model.ts";

interface ChunkCall {
  index?: number;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | Record<string, unknown> | null };
}

interface ChunkMessage {
  content?: string | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  tool_calls?: ChunkCall[] | null;
}

interface Chunk {
  error?: unknown;
  choices?: { delta?: ChunkMessage; message?: ChunkMessage; finish_reason?: string | null }[];
  usage?: {
    prompt_tokens?: number;
    completion_tokens?: number;
    prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
  } | null;
}

interface OpenCall {
  id: string;
  index: number;
  name: string;
  args: string;
}

export function createOpenAIReading(
  model: string,
  onDelta: ((delta: Delta) => void) | undefined,
): Sink & { reply(): Reply } {
  let text = "";
  let refusal = "";
  let reasoning = "";
  let finish: string | undefined;
  let done = false;
  let usage: Usage = noUsage();
  const calls: OpenCall[] = [];

  const take = (message: ChunkMessage) => {
    const thought = message.reasoning_content ?? message.reasoning;
    if (thought) {
      reasoning += thought;
      onDelta?.({ type: "reasoning", text: thought });
    }
    if (message.content) {
      text += message.content;
      onDelta?.({ type: "text", text: message.content });
    }
    if (message.refusal) {
      refusal += message.refusal;
      onDelta?.({ type: "text", text: message.refusal });
    }
    for (const call of message.tool_calls ?? []) takeCall(call);
  };

  const takeCall = (delta: ChunkCall) => {
    const args = delta.function?.arguments ?? "";
    const given = typeof args === "string" ? args : JSON.stringify(args);
    const last = calls.at(-1);
    const index = delta.index ?? (delta.id && delta.id !== last?.id ? calls.length : (last?.index ?? 0));
    const open = calls.findLast((call) => call.index === index);
    // Some servers number every call 0: another id with a name is another call.
    if (open && !(delta.id && delta.id !== open.id && delta.function?.name)) {
      open.args += given;
      if (open.name === "" && delta.function?.name) open.name = delta.function.name;
      return;
    }
    const name = delta.function?.name ?? "";
    calls.push({ id: delta.id || `call_${calls.length + 1}`, index, name, args: given });
    onDelta?.({ type: "call", name });
  };

  const takeChunk = (chunk: Chunk) => {
    if (chunk.error) throw errorFromEvent(model, chunk);
    const choice = chunk.choices?.[0];
    if (choice) {
      const message = choice.delta ?? choice.message;
      if (message) take(message);
      if (choice.finish_reason) finish = choice.finish_reason;
    }
    if (chunk.usage) {
      const cacheRead = chunk.usage.prompt_tokens_details?.cached_tokens ?? 0;
      const cacheWrite = chunk.usage.prompt_tokens_details?.cache_write_tokens ?? 0;
      usage = {
        input: Math.max(0, (chunk.usage.prompt_tokens ?? 0) - cacheRead - cacheWrite),
        output: chunk.usage.completion_tokens ?? 0,
        cacheRead,
        cacheWrite,
      };
    }
  };

  const spoken = (): ReplyPart[] => {
    const parts: ReplyPart[] = [];
    if (reasoning !== "") parts.push({ type: "reasoning", text: reasoning });
    if (text + refusal !== "") parts.push({ type: "text", text: text + refusal });
    return parts;
  };

  return {
    event(data) {
      if (data === "[DONE]") done = true;
      else takeChunk(parseJson(data, model) as Chunk);
    },
    whole(body) {
      takeChunk(body as Chunk);
      done = true;
    },
    // Some servers close without `[DONE]`: a finish reason says as much, but the usage may still follow it.
    ended: () => done || finish !== undefined,
    marked: () => done,
    partial: spoken,
    reply() {
      const parts = spoken();
      calls.forEach((call, i) => {
        const cutShort = finish === "length" && i === calls.length - 1;
        parts.push({ type: "call", id: call.id, name: call.name, ...parseCallInput(call.args, { cutShort }) });
      });
      return { model, parts, finish: finishOf(finish, calls.length, refusal), usage };
    },
  };
}

function finishOf(reason: string | undefined, calls: number, refusal: string): Finish {
  if (reason === "length") return "length";
  if (calls > 0) return "calls";
  if (reason === "content_filter" || refusal !== "") return "refused";
  return reason === "stop" || reason === "tool_calls" || reason === "function_call" ? "stop" : "other";
}
