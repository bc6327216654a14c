// The OpenAI Chat Completions wire, as OpenAI, Ollama, vLLM, llama.cpp and many others speak it.
import type { AdapterOptions } from "./adapter-options.ts";
import { nineCharacterId } from "./call-ids.ts";
import { limitsOf } from "./catalogue.ts";
import { type Body, createGrowingBytes } from "./growing-bytes.ts";
import { createPost } from "./http-stream.ts";
import {
  type Content,
  type Item,
  type Limits,
  type Model,
  ModelError,
  type ModelRequest,
  type ReplyPart,
} from "./model.ts";
import {
  type CallData,
  type Family,
  familyOf,
  type LimitField,
  limitFieldOf,
  otherLimitField,
  type ReasoningData,
  UNSIGNED,
} from "./openai-provider-data.ts";
import { createOpenAIReading } from "./openai-reading.ts";
import {
  moreFields,
  plainText,
  rememberItems,
  rememberSystem,
  rememberTools,
  replaced,
  takenBy,
  takes,
} from "./wire-memo.ts";

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
    env: opts.env,
  });
  const own = isOpenAIs(base);
  const extra = own && REASONS_WITHOUT_TOOLS.test(opts.name) ? { reasoning_effort: "none", ...opts.extra } : opts.extra;
  const body = createOpenAIBody({ ...{ id, name: opts.name, limits }, extra });
  let limitField: LimitField = own ? "max_completion_tokens" : limitFieldOf(opts.name);
  let asksUsage = true;
  /** True: the server does not take what it was asked with, and will be asked otherwise from now on. */
  const adapts = (error: unknown, sent: LimitField): boolean => {
    if (!(error instanceof ModelError) || error.field === undefined) return false;
    if (error.field === sent)
      limitField = otherLimitField(sent); // a gateway's name for a model does not tell which one it is
    else if (error.field.startsWith("stream_options") && asksUsage)
      asksUsage = false; // nobody counts the tokens then
    else return false;
    return true;
  };
  const ask = async (request: ModelRequest, { signal, onDelta }: Parameters<Model["reply"]>[1]) => {
    const reading = createOpenAIReading(id, { thinkTags: !own, ...(onDelta && { onDelta }) });
    await post(body(request, { limitField, asksUsage }), reading, signal);
    return reading.reply();
  };
  return {
    id,
    limits,
    wire: () => ({
      ...{ wire: "openai", name: opts.name, ...takenBy(limits), limitField, asksUsage },
      ...(extra && { extra }),
    }),
    async reply(request, asked) {
      const sent = limitField;
      for (let left = 2; ; left--) {
        try {
          return await ask(request, asked);
        } catch (error) {
          if (left === 0 || !adapts(error, sent)) throw error;
        }
      }
    },
  };
}

function isOpenAIs(base: string): boolean {
  const host = new URL(base).hostname;
  return host === "api.openai.com" || host.endsWith(".openai.azure.com");
}

/** On this wire OpenAI takes function tools for these models only where reasoning is switched off; Azure and `openai-compatible` still lead here. */
const REASONS_WITHOUT_TOOLS = /^gpt-(5\.[456]|6-)(?!astra)/;

export function createOpenAIBody(opts: {
  id: string;
  name: string;
  limits: Limits;
  extra?: Record<string, unknown>;
}): (request: ModelRequest, how: { limitField: LimitField; asksUsage: boolean }) => Body {
  const extra = moreFields(opts.extra);
  const begin = `{"model":${JSON.stringify(opts.name)},"stream":true`;
  const usage = ',"stream_options":{"include_usage":true}';
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
  const reader: Reader = { id: opts.id, limits: opts.limits, family: familyOf(opts.name) };
  const item = rememberItems((i) => renderItem(i, reader));
  const bytes = createGrowingBytes((items, from, to) => {
    let text = "";
    for (const [i, one] of items.slice(from, to).entries()) {
      if (one.kind !== "result") text += imagesBefore(items, from + i, item);
      text += item(one).message;
    }
    return text;
  });

  return ({ items, maxOutputTokens, ...request }, { limitField, asksUsage }) => {
    const first = system(request.system);
    const all = bytes(items, items.length);
    return {
      head: `${begin}${asksUsage ? usage : ""}${extra},"${limitField}":${maxOutputTokens}${tools(request.tools)},"messages":[${first}`,
      middle: first === "" ? all.subarray(1) : all,
      tail: `${imagesBefore(items, items.length, item)}]}`,
    };
  };
}

/** A tool message carries text only: the images of results follow once all results of a reply are there. */
function imagesBefore(items: readonly Item[], end: number, wire: (item: Item) => { images: string }): string {
  let images = "";
  for (let i = end - 1, one = items[i]; one?.kind === "result"; one = items[--i]) {
    const own = wire(one).images;
    if (own !== "") images = images === "" ? own : `${own},${images}`;
  }
  return images === "" ? "" : `,{"role":"user","content":[${images}]}`;
}

/** For whom the past is written. */
interface Reader {
  id: string;
  limits: Limits;
  family: Family;
}

/** `message` starts with a comma, or is empty where there is nothing to say. */
function renderItem(item: Item, reader: Reader): { message: string; images: string } {
  const { limits } = reader;
  if (item.kind === "user") {
    return { message: `,{"role":"user","content":${userContent(item.content, limits)}}`, images: "" };
  }
  if (item.kind === "reply") return { message: assistant(item, reader), images: "" };
  const shown = item.content.filter((c) => c.type !== "text" && takes(limits, c));
  const text = item.content.map((c) => (shown.includes(c) ? attachedLine(c) : plainText([c]))).join("\n");
  return {
    message: `,{"role":"tool","tool_call_id":"${nineCharacterId(item.callId)}","content":${JSON.stringify(text)}}`,
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
  if (!takes(limits, c)) return JSON.stringify({ type: "text", text: replaced(c) });
  const url = `data:${c.mediaType};base64,${c.data}`;
  if (c.type === "image") return JSON.stringify({ type: "image_url", image_url: { url } });
  return JSON.stringify({ type: "file", file: { filename: c.name, file_data: url } });
}

/** Reasoning, signatures and whatever else came with a reply go back to the model that wrote it, as they came. */
function assistant({ model, parts }: Extract<Item, { kind: "reply" }>, { id, family }: Reader): string {
  const isOwn = model === id;
  let text = "";
  let calls = "";
  let data = "";
  let thoughts = "";
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    else if (part.type === "call")
      calls += `,${callOf(part, isOwn ? part.provider : calls === "" && family.unsignedCalls ? UNSIGNED : undefined)}`;
    else if (isOwn && part.provider) {
      const { field, details, extra } = part.provider as ReasoningData;
      if (field === "content") thoughts += `,${thinkingPart(part.text)}`;
      else if (field) data += `,"${field}":${JSON.stringify(part.text)}`;
      if (details) data += `,"reasoning_details":${JSON.stringify(details)}`;
      if (extra !== undefined) data += `,"extra_content":${JSON.stringify(extra)}`;
    }
  }
  if (text === "" && calls === "") return "";
  if (family.emptyReasoning && !data.includes('"reasoning_content":')) data += ',"reasoning_content":""';
  return `,{"role":"assistant"${contentOf(thoughts, text)}${data}${calls === "" ? "" : `,"tool_calls":[${calls.slice(1)}]`}}`;
}

function contentOf(thoughts: string, text: string): string {
  if (thoughts === "") return text === "" ? "" : `,"content":${JSON.stringify(text)}`;
  const said = text === "" ? "" : `,${JSON.stringify({ type: "text", text })}`;
  return `,"content":[${thoughts.slice(1)}${said}]`;
}

const thinkingPart = (text: string): string => JSON.stringify({ type: "thinking", thinking: [{ type: "text", text }] });

function callOf(call: Extract<ReplyPart, { type: "call" }>, data: CallData = {}): string {
  const args = JSON.stringify(JSON.stringify(call.input ?? {}));
  const { extra } = data;
  const signature = extra === undefined ? "" : `,"extra_content":${JSON.stringify(extra)}`;
  return `{"id":"${nineCharacterId(call.id)}","type":"function","function":{"name":${JSON.stringify(call.name)},"arguments":${args}}${signature}}`;
}
