// Owns the OpenAI Chat Completions wire, as OpenAI, Ollama, vLLM, llama.cpp and many others speak it.
import { limitsOf } from "./catalogue.ts";
import { createPost } from "./http-stream.ts";
import type { Content, Item, Limits, Model, ModelRequest, ReplyPart } from "./model.ts";
import { createOpenAIReading } from "./openai-reading.ts";
import { insteadOf, plainText, rememberItems, rememberSystem, rememberTools, takes } from "./wire-memo.ts";

export interface OpenAIOptions {
  /** The provider's name for the model. */
  name: string;
  /** `provider/name`; `openai/NAME` unless given. */
  id?: string;
  /** Up to and including `/v1`. */
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  limits?: Limits;
  stallMs?: number;
  /** More fields of the request, such as `reasoning_effort`. */
  extra?: Record<string, unknown>;
}

export const OPENAI_BASE_URL = "https://api.openai.com/v1";

export function createOpenAI(opts: OpenAIOptions): Model {
  const id = opts.id ?? `openai/${opts.name}`;
  const limits = opts.limits ?? limitsOf(id);
  const base = (opts.baseUrl ?? OPENAI_BASE_URL).replace(/\/+$/, "");
  const post = createPost({
    url: `${base}/chat/completions`,
    headers: { ...(opts.apiKey ? { authorization: `Bearer ${opts.apiKey}` } : {}), ...opts.headers },
    label: id,
    stallMs: opts.stallMs,
  });
  const body = createOpenAIBody({ name: opts.name, limits, limitField: limitField(base), extra: opts.extra });
  return {
    id,
    limits,
    async reply(request, { signal, onDelta }) {
      const reading = createOpenAIReading(id, onDelta);
      await post(body(request), reading, signal);
      return reading.reply();
    },
  };
}

/** OpenAI's own models refuse `max_tokens`; Ollama reads nothing else, and vLLM, llama.cpp and the rest all take it. */
function limitField(base: string): string {
  const host = new URL(base).hostname;
  return host === "api.openai.com" || host.endsWith(".openai.azure.com") ? "max_completion_tokens" : "max_tokens";
}

export function createOpenAIBody(opts: {
  name: string;
  limits: Limits;
  limitField: string;
  extra?: Record<string, unknown>;
}): (request: ModelRequest) => string {
  const extra = opts.extra ? `,${JSON.stringify(opts.extra).slice(1, -1)}` : "";
  const head = `{"model":${JSON.stringify(opts.name)},"stream":true,"stream_options":{"include_usage":true}${extra},"${opts.limitField}":`;
  const tools = rememberTools(
    (tool) =>
      JSON.stringify({
        type: "function",
        function: { name: tool.name, description: tool.description, parameters: tool.input },
      }),
    (list) => (list.length > 0 ? `,"tools":[${list.join(",")}]` : ""),
  );
  const system = rememberSystem((parts) => {
    const text = parts.filter((part) => part !== "").join("\n\n");
    return text === "" ? "" : `,${JSON.stringify({ role: "system", content: text })}`;
  });
  const item = rememberItems((i) => renderItem(i, opts.limits));

  return (request) => {
    let messages = system(request.system);
    let images = "";
    for (const each of request.items) {
      const wire = item(each);
      // A tool message carries text only: its images follow once all results of the reply are there.
      if (images !== "" && each.kind !== "result") {
        messages += `,{"role":"user","content":[${images}]}`;
        images = "";
      }
      messages += wire.message;
      if (wire.images !== "") images += images === "" ? wire.images : `,${wire.images}`;
    }
    if (images !== "") messages += `,{"role":"user","content":[${images}]}`;
    return `${head}${request.maxOutputTokens}${tools(request.tools)},"messages":[${messages.slice(1)}]}`;
  };
}

/** `message` starts with a comma, or is empty where there is nothing to say. */
function renderItem(item: Item, limits: Limits): { message: string; images: string } {
  if (item.kind === "user") {
    return { message: `,{"role":"user","content":${userContent(item.content, limits)}}`, images: "" };
  }
  if (item.kind === "reply") return { message: assistant(item.parts), images: "" };
  const shown = item.content.filter((c) => c.type !== "text" && takes(limits, c));
  const text = item.content.map((c) => (shown.includes(c) ? attachedLine(c) : plainText([c]))).join("\n");
  return {
    message: `,{"role":"tool","tool_call_id":${JSON.stringify(item.callId)},"content":${JSON.stringify(text)}}`,
    images: shown.map((c) => userPart(c, limits)).join(","),
  };
}

const attachedLine = (c: Content) => (c.type === "image" ? "[image: see below]" : "[document: see below]");

function userContent(content: readonly Content[], limits: Limits): string {
  if (content.every((c) => c.type === "text" || !takes(limits, c))) return JSON.stringify(plainText(content));
  return `[${content.map((c) => userPart(c, limits)).join(",")}]`;
}

function userPart(c: Content, limits: Limits): string {
  if (c.type === "text") return JSON.stringify({ type: "text", text: c.text });
  if (!takes(limits, c)) return JSON.stringify({ type: "text", text: insteadOf(c) });
  const url = `data:${c.mediaType};base64,${c.data}`;
  if (c.type === "image") return JSON.stringify({ type: "image_url", image_url: { url } });
  return JSON.stringify({ type: "file", file: { filename: c.name, file_data: url } });
}

/** Reasoning is not sent back: this wire has no field for it that all providers take. */
function assistant(parts: readonly ReplyPart[]): string {
  let text = "";
  let calls = "";
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    else if (part.type === "call") {
      const args = JSON.stringify(JSON.stringify(part.input ?? {}));
      calls += `,{"id":${JSON.stringify(part.id)},"type":"function","function":{"name":${JSON.stringify(part.name)},"arguments":${args}}}`;
    }
  }
  if (text === "" && calls === "") return "";
  const content = text === "" ? "" : `,"content":${JSON.stringify(text)}`;
  return `,{"role":"assistant"${content}${calls === "" ? "" : `,"tool_calls":[${calls.slice(1)}]`}}`;
}
