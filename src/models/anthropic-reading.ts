// Reading an Anthropic Messages answer: events of a stream, or a whole one, into one reply.
import { parseCallInput } from "./call-input.ts";
import { errorFromEvent } from "./http-error.ts";
import { parseJson, type Sink } from "./http-stream.ts";
import {
  callIsMissing,
  type Delta,
  type Finish,
  ModelError,
  noUsage,
  type Reply,
  type ReplyPart,
  type Usage,
} from "./model.ts";

interface WireBlock {
  type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  data?: string;
  id?: string;
  name?: string;
  input?: unknown;
}

interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

interface WireEvent {
  type: string;
  index?: number;
  message?: { usage?: WireUsage };
  content_block?: WireBlock;
  delta?: {
    type?: string;
    text?: string;
    thinking?: string;
    signature?: string;
    partial_json?: string;
    stop_reason?: string | null;
  };
  usage?: WireUsage;
  content?: WireBlock[];
  stop_reason?: string | null;
}

/** A block while it streams; `json` gathers a call's arguments. */
interface OpenBlock extends WireBlock {
  json: string;
}

export function createAnthropicReading(
  model: string,
  onDelta: ((delta: Delta) => void) | undefined,
): Sink & { reply(): Reply } {
  const blocks: OpenBlock[] = [];
  const usage: Usage = noUsage();
  let stop: string | undefined;
  let done = false;

  const takeUsage = (given: WireUsage | undefined) => {
    if (!given) return;
    usage.input = given.input_tokens ?? usage.input;
    usage.output = given.output_tokens ?? usage.output;
    usage.cacheRead = given.cache_read_input_tokens ?? usage.cacheRead;
    usage.cacheWrite = given.cache_creation_input_tokens ?? usage.cacheWrite;
  };

  const startBlock = (index: number, block: WireBlock) => {
    const given = block.input !== undefined && Object.keys(block.input ?? {}).length > 0;
    blocks[index] = { ...block, json: given ? JSON.stringify(block.input) : "" };
    if (block.type === "tool_use") onDelta?.({ type: "call", name: block.name ?? "" });
    if (block.text) onDelta?.({ type: "text", text: block.text });
    if (block.thinking) onDelta?.({ type: "reasoning", text: block.thinking });
  };

  const takeDelta = (block: OpenBlock, delta: NonNullable<WireEvent["delta"]>) => {
    switch (delta.type) {
      case "text_delta":
        block.text = (block.text ?? "") + (delta.text ?? "");
        onDelta?.({ type: "text", text: delta.text ?? "" });
        break;
      case "thinking_delta":
        block.thinking = (block.thinking ?? "") + (delta.thinking ?? "");
        onDelta?.({ type: "reasoning", text: delta.thinking ?? "" });
        break;
      case "signature_delta":
        block.signature = (block.signature ?? "") + (delta.signature ?? "");
        break;
      case "input_json_delta":
        block.json += delta.partial_json ?? "";
        break;
    }
  };

  const take = (event: WireEvent) => {
    switch (event.type) {
      case "message_start":
        takeUsage(event.message?.usage);
        break;
      case "content_block_start":
        if (!event.content_block) throw new ModelError("server", `${model}: a block begins that is none`);
        startBlock(event.index ?? blocks.length, event.content_block);
        break;
      case "content_block_delta": {
        const block = blocks[event.index ?? blocks.length - 1];
        if (block && event.delta) takeDelta(block, event.delta);
        break;
      }
      case "message_delta":
        takeUsage(event.usage);
        stop = event.delta?.stop_reason ?? stop;
        break;
      case "message_stop":
        done = true;
        break;
      case "error":
        throw errorFromEvent(model, event);
    }
  };

  const partsOf = (opts: { calls: boolean }): ReplyPart[] => {
    const parts: ReplyPart[] = [];
    blocks.forEach((block, i) => {
      if (block.type === "text" && block.text) parts.push({ type: "text", text: block.text });
      else if (block.type === "thinking") {
        const signature = block.signature ? { signature: block.signature } : {};
        if (block.thinking || block.signature) {
          parts.push({ type: "reasoning", text: block.thinking ?? "", ...signature });
        }
      } else if (block.type === "redacted_thinking") {
        parts.push({ type: "reasoning", text: "", redacted: block.data ?? "" });
      } else if (block.type === "tool_use" && opts.calls) {
        const cutShort = isLength(stop) && i === blocks.length - 1;
        const input = parseCallInput(block.json, { cutShort });
        parts.push({ type: "call", id: block.id ?? `call_${i}`, name: block.name ?? "", ...input });
      }
    });
    return parts;
  };

  return {
    event(data) {
      take(parseJson<WireEvent>(data, model));
    },
    whole(text) {
      const message = parseJson<WireEvent>(text, model);
      if (message.type === "error") throw errorFromEvent(model, message);
      for (const block of message.content ?? []) startBlock(blocks.length, block);
      takeUsage(message.usage);
      stop = message.stop_reason ?? undefined;
      done = true;
    },
    ended: () => done,
    marked: () => done,
    partial: () => partsOf({ calls: false }),
    reply() {
      const parts = partsOf({ calls: true });
      if (stop === "tool_use" && !parts.some((part) => part.type === "call")) throw callIsMissing(model, parts);
      return { model, parts, finish: finishOf(stop, parts), usage };
    },
  };
}

const isLength = (stop: string | undefined) => stop === "max_tokens" || stop === "model_context_window_exceeded";

function finishOf(stop: string | undefined, parts: ReplyPart[]): Finish {
  if (isLength(stop)) return "length";
  if (parts.some((part) => part.type === "call")) return "calls";
  if (stop === "refusal") return "refused";
  return stop === "end_turn" || stop === "stop_sequence" || stop === "tool_use" ? "stop" : "other";
}
