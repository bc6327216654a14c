// Reading a Chat Completions answer: chunks of a stream, or a whole one, into one reply.
import { parseCallInput } from "./call-input.ts";
import { errorFromEvent } from "./http-error.ts";
import { parseJson, type Sink } from "./http-stream.ts";
import { callIsMissing, type Delta, type Finish, noUsage, type Reply, type ReplyPart, type Usage } from "./model.ts";
import { addDetails, type CallData, type Detail, type ReasoningData } from "./openai-provider-data.ts";
import { createThinkSplitter } from "./think-tags.ts";

interface ChunkCall {
  index?: number;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | Record<string, unknown> | null };
  extra_content?: unknown;
}

/** Mistral's reasoning models send their content in parts. */
interface ChunkPart {
  type?: string;
  text?: string;
  thinking?: string | { text?: string }[];
}

interface ChunkMessage {
  content?: string | ChunkPart[] | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  reasoning_details?: Detail[] | null;
  extra_content?: unknown;
  tool_calls?: ChunkCall[] | null;
  /** The one call of older servers. */
  function_call?: ChunkCall["function"] | null;
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
  extra?: unknown;
}

export interface OpenAIReadingOptions {
  onDelta?: (delta: Delta) => void;
  /** Take `<think>` at the beginning of an answer for reasoning, as local models write it. */
  thinkTags: boolean;
}

export function createOpenAIReading(
  model: string,
  { onDelta, thinkTags }: OpenAIReadingOptions,
): Sink & { reply(): Reply } {
  let text = "";
  let refusal = "";
  let reasoning = "";
  const came: ReasoningData = {};
  const details: Detail[] = [];
  const think = thinkTags ? createThinkSplitter() : undefined;
  let finish: string | undefined;
  let done = false;
  let usage: Usage = noUsage();
  const calls: OpenCall[] = [];

  const takeReasoning = (thought: string, field?: ReasoningData["field"]) => {
    if (thought === "") return;
    if (field) came.field = field;
    reasoning += thought;
    onDelta?.({ type: "reasoning", text: thought });
  };

  const takeText = (piece: string) => {
    if (piece === "") return;
    text += piece;
    onDelta?.({ type: "text", text: piece });
  };

  const takePart = (part: ChunkPart) => {
    if (part.type === "thinking") {
      const { thinking = "" } = part;
      const thought = typeof thinking === "string" ? thinking : thinking.map((one) => one.text ?? "").join("");
      takeReasoning(thought, "content");
    } else if (part.text) takeText(part.text);
  };

  const takeContent = (content: string | ChunkPart[]) => {
    if (typeof content !== "string") return content.forEach(takePart);
    if (!think) return takeText(content);
    const split = think.feed(content);
    takeReasoning(split.reasoning);
    takeText(split.text);
  };

  /** What was held back because it might have been the beginning of a tag. */
  const flush = () => {
    const rest = think?.end();
    if (!rest) return;
    takeReasoning(rest.reasoning);
    takeText(rest.text);
  };

  const take = (message: ChunkMessage) => {
    if (message.reasoning_content) takeReasoning(message.reasoning_content, "reasoning_content");
    else if (message.reasoning) takeReasoning(message.reasoning, "reasoning");
    if (Array.isArray(message.reasoning_details)) addDetails(details, message.reasoning_details);
    if (message.extra_content) came.extra = message.extra_content;
    if (message.content) takeContent(message.content);
    if (message.refusal) {
      refusal += message.refusal;
      onDelta?.({ type: "text", text: message.refusal });
    }
    for (const call of message.tool_calls ?? []) takeCall(call);
    if (message.function_call) takeCall({ index: 0, function: message.function_call });
  };

  const takeCall = (delta: ChunkCall) => {
    const args = delta.function?.arguments ?? "";
    const given = typeof args === "string" ? args : JSON.stringify(args);
    const last = calls.at(-1);
    const index = delta.index ?? (delta.id && delta.id !== last?.id ? calls.length : (last?.index ?? 0));
    const open = calls.findLast((call) => call.index === index);
    if (open && !isAnother(delta, open)) {
      open.args += given;
      if (open.name === "" && delta.function?.name) open.name = delta.function.name;
      if (delta.extra_content) open.extra = delta.extra_content;
      return;
    }
    const name = delta.function?.name ?? "";
    const extra = delta.extra_content ? { extra: delta.extra_content } : {};
    calls.push({ id: delta.id || `call_${calls.length + 1}`, index, name, args: given, ...extra });
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
    // Details hold the text too, and more than it.
    const { field, ...rest } = came;
    const provider: ReasoningData = details.length > 0 ? { ...rest, details } : came;
    const hasData = Object.keys(provider).length > 0;
    if (reasoning !== "" || hasData)
      parts.push({ type: "reasoning", text: reasoning, ...(hasData ? { provider } : {}) });
    if (text + refusal !== "") parts.push({ type: "text", text: text + refusal });
    return parts;
  };

  return {
    event(data) {
      if (data === "[DONE]") done = true;
      else takeChunk(parseJson<Chunk>(data, model));
    },
    whole(text) {
      takeChunk(parseJson<Chunk>(text, model));
      done = true;
    },
    // Some servers close without `[DONE]`: a finish reason says as much, but the usage may still follow it.
    ended: () => done || finish !== undefined,
    marked: () => done,
    partial: spoken,
    reply() {
      flush();
      const parts = spoken();
      calls.forEach(({ id, name, args, extra }, i) => {
        const cutShort = (finish === "length" || finish === "content_filter") && i === calls.length - 1;
        const provider: CallData | undefined = extra === undefined ? undefined : { extra };
        parts.push({ type: "call", id, name, ...parseCallInput(args, { cutShort }), ...(provider && { provider }) });
      });
      if (calls.length === 0 && (finish === "tool_calls" || finish === "function_call"))
        throw callIsMissing(model, parts);
      return { model, parts, finish: finishOf(finish, calls.length, refusal), usage };
    },
  };
}

/** Some servers number every call 0: another id, or without ids another name behind whole arguments, is another call. */
function isAnother({ id, function: called }: ChunkCall, open: OpenCall): boolean {
  if (!called?.name) return false;
  return id ? id !== open.id : open.name !== "" && isWhole(open.args);
}

function isWhole(args: string): boolean {
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

function finishOf(reason: string | undefined, calls: number, refusal: string): Finish {
  if (reason === "length") return "length";
  if (calls > 0) return "calls";
  if (reason === "content_filter" || refusal !== "") return "refused";
  return reason === "stop" || reason === "tool_calls" || reason === "function_call" ? "stop" : "other";
}
