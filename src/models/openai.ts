// Owns the OpenAI Chat Completions wire, as OpenAI, Ollama, vLLM, llama.cpp and many others speak it.
import type { AdapterOptions } from "./adapter-options.ts";
import { limitsOf } from "./catalogue.ts";
import { type Body, createGrowingBytes } from "./growing-bytes.ts";
import { createPost } from "./http-stream.ts";
import type { Content, Item, Limits, Model, ModelRequest, ReplyPart } from "./model.ts";
import { createOpenAIReading } from "./openai-reading.ts";
import { insteadOf, moreFields, plainText, rememberItems, rememberSystem, rememberTools, takes } from "./wire-memo.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";

export function createOpenAI(opts: AdapterOptions): Model {
  const id = opts.id ?? `openai/${opts.name}`;
  const limits = opts.limits ?? limitsOf(id);
  const base = (opts.baseUrl ?? OPENAI_BASE_URL).replace(/\/+$/, "");
  const post = createPost({
    url: `${base}/chat/completions`,
    headers: { ...(opts.apiKey ? { authorization: `Bearer ${opts.apiKey}` } : {}), ...opts.headers },
    label: id,
    stallMs: opts.stallMs,
  });
  const own = isOpenAIs(base);
  const body = createOpenAIBody({
    name: opts.name,
    limits,
    limitField: own ? "max_completion_tokens" : "max_tokens",
    extra: own && REASONS_WITHOUT_TOOLS.test(opts.name) ? { reasoning_effort: "none", ...opts.extra } : opts.extra,
  });
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
function isOpenAIs(base: string): boolean {
  const host = new URL(base).hostname;
  return host === "api.openai.com" || host.endsWith(".openai.azure.com");
}

/** On this wire OpenAI takes function tools for these models only where reasoning is switched off; Azure and `openai-compatible` still lead here. */
const REASONS_WITHOUT_TOOLS = /^gpt-(5\.[456]|6-)(?!astra)/;

export function createOpenAIBody(opts: {
  name: string;
  limits: Limits;
  limitField: string;
  extra?: Record<string, unknown>;
}): (request: ModelRequest) => Body {
  const extra = moreFields(opts.extra);
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
    return text === "" ? "" : JSON.stringify({ role: "system", content: text });
  });
  const item = rememberItems((i) => renderItem(i, opts.limits));
  const bytes = createGrowingBytes((items, from, to) => {
    let text = "";
    for (let i = from; i < to; i++) {
      if (items[i]!.kind !== "result") text += imagesBefore(items, i, item);
      text += item(items[i]!).message;
    }
    return text;
  });

  return ({ items, maxOutputTokens, ...request }) => {
    const first = system(request.system);
    const all = bytes(items, items.length);
    return {
      head: `${head}${maxOutputTokens}${tools(request.tools)},"messages":[${first}`,
      middle: first === "" ? all.subarray(1) : all,
      tail: `${imagesBefore(items, items.length, item)}]}`,
    };
  };
}

/** A tool message carries text only: the images of results follow once all results of a reply are there. */
function imagesBefore(items: readonly Item[], end: number, wire: (item: Item) => { images: string }): string {
  let images = "";
  for (let i = end - 1; i >= 0 && items[i]!.kind === "result"; i--) {
    const own = wire(items[i]!).images;
    if (own !== "") images = images === "" ? own : `${own},${images}`;
  }
  return images === "" ? "" : `,{"role":"user","content":[${images}]}`;
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
