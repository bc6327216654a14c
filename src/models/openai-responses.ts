// The OpenAI Responses wire, stateless: the whole transcript goes out each time, the model's own sealed reasoning in it.
import type { AdapterOptions } from "./adapter-options.ts";
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
import { createOpenAIResponsesReading } from "./openai-responses-reading.ts";
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

export function createOpenAIResponses(opts: AdapterOptions): Model {
  const id = opts.id ?? `openai-responses/${opts.name}`;
  const limits = opts.limits ?? limitsOf(id);
  const post = createPost({
    url: `${(opts.baseUrl ?? OPENAI_BASE_URL).replace(/\/+$/, "")}/responses`,
    headers: { ...(opts.apiKey ? { authorization: `Bearer ${opts.apiKey}` } : {}), ...opts.headers },
    label: id,
    stallMs: opts.stallMs,
    env: opts.env,
  });
  const view: View = { id, limits, unreadable: new WeakSet() };
  const bodyOf = (sealed: boolean) =>
    createOpenAIResponsesBody({ ...view, name: opts.name, sealed, extra: opts.extra });
  let sealed = !DOES_NOT_REASON.test(opts.name);
  let body = bodyOf(sealed);
  return {
    id,
    limits,
    wire: ({ items }) => {
      const last = items.findLast((item) => item.kind === "reply" && view.unreadable.has(item));
      return {
        ...{ wire: "openai-responses", name: opts.name, ...takenBy(limits), sealed },
        ...(last?.kind === "reply" && last.n !== undefined && { unreadable: last.n }),
        ...(opts.extra && { extra: opts.extra }),
      };
    },
    async reply(request, { signal, onDelta }) {
      for (const item of unreadableIn(request.items, request.unreadable)) view.unreadable.add(item);
      const ask = async () => {
        const reading = createOpenAIResponsesReading(id, onDelta);
        await post(body(request), reading, signal);
        return reading.reply();
      };
      try {
        return await ask();
      } catch (error) {
        const refusal = sealRefused(error);
        if (!refusal) throw error;
        // Another key, organisation or model sealed it: without it the context goes on, with it never again.
        for (const item of request.items) view.unreadable.add(item);
        if (refusal === "model") sealed = false;
        body = bodyOf(sealed);
        onDelta?.({ type: "reset" });
        return ask();
      }
    },
  };
}

export const unreadableIn = (items: readonly Item[], upTo = 0): Item[] =>
  upTo === 0 ? [] : items.filter((item) => item.kind === "reply" && (item.n ?? 0) <= upTo);

/** These refuse a request that asks for sealed reasoning. */
const DOES_NOT_REASON = /^(ft:)?(gpt-3|gpt-4|chatgpt-)|^gpt-[\d.]+-chat/;

/** Whether the model never seals reasoning, or cannot open what was sent. */
function sealRefused(error: unknown): "model" | "content" | undefined {
  if (!(error instanceof ModelError) || error.kind !== "invalid" || !/encrypted content/i.test(error.message)) return;
  return /not supported/i.test(error.message) ? "model" : "content";
}

interface View {
  id: string;
  limits: Limits;
  /** Replies whose reasoning the provider could not open. */
  unreadable: WeakSet<Item>;
}

export function createOpenAIResponsesBody(
  opts: View & { name: string; sealed: boolean; extra?: Record<string, unknown> },
): (request: ModelRequest) => Body {
  const include = opts.sealed ? { include: ["reasoning.encrypted_content"] } : {};
  const extra = moreFields({ ...include, ...opts.extra });
  const head = `{"model":${JSON.stringify(opts.name)},"stream":true,"store":false${extra},"max_output_tokens":`;
  const tools = rememberTools(
    ({ name, description, input }) =>
      // Unless told otherwise the API makes every schema strict, and refuses those that have optional fields.
      JSON.stringify({ type: "function", name, description, parameters: input, strict: false }),
    (list) => (list.length > 0 ? `,"tools":[${list.join(",")}]` : ""),
  );
  const system = rememberSystem((parts) => {
    const text = parts.filter((part) => part !== "").join("\n\n");
    return text === "" ? "" : `,"instructions":${JSON.stringify(text)}`;
  });
  const item = rememberItems((i) => renderItem(i, opts));
  const bytes = createGrowingBytes((items, from, to) => {
    let text = "";
    for (const one of items.slice(from, to)) text += item(one);
    return text;
  });
  return ({ items, maxOutputTokens, ...request }) => ({
    head: `${head}${maxOutputTokens}${tools(request.tools)}${system(request.system)},"input":[`,
    middle: bytes(items, items.length).subarray(1),
    tail: "]}",
  });
}

/** Each item of the wire starts with a comma; empty where nothing may be shown. */
function renderItem(item: Item, view: View): string {
  if (item.kind === "reply") return renderReply(item.parts, item.model === view.id && !view.unreadable.has(item));
  if (item.kind === "user")
    return `,{"type":"message","role":"user","content":[${contentList(item.content, view.limits)}]}`;
  const inWords = item.content.every((c) => c.type === "text" || !takes(view.limits, c));
  const output = inWords ? JSON.stringify(plainText(item.content)) : `[${contentList(item.content, view.limits)}]`;
  return `,{"type":"function_call_output","call_id":${JSON.stringify(item.callId)},"output":${output}}`;
}

/** Reasoning without what it led to is refused: it waits until that is there. */
function renderReply(parts: readonly ReplyPart[], own: boolean): string {
  let out = "";
  let thought = "";
  let phase = "";
  for (const part of parts) {
    if (part.type === "reasoning") {
      if (!own || part.signature === undefined) continue;
      if (part.signature.startsWith('{"phase"')) phase = `,${part.signature.slice(1, -1)}`;
      else thought += `,${part.signature}`;
      continue;
    }
    if (part.type === "call") out += thought + renderCall(part);
    else if (part.text === "") continue;
    else {
      const content = JSON.stringify([{ type: "output_text", text: part.text }]);
      out += `${thought},{"type":"message","role":"assistant"${phase},"content":${content}}`;
      phase = "";
    }
    thought = "";
  }
  return out;
}

function renderCall({ id, name, input }: Extract<ReplyPart, { type: "call" }>): string {
  return `,${JSON.stringify({ type: "function_call", call_id: id, name, arguments: JSON.stringify(input ?? {}) })}`;
}

const contentList = (content: readonly Content[], limits: Limits): string =>
  content.map((c) => JSON.stringify(inputPart(c, limits))).join(",");

function inputPart(c: Content, limits: Limits) {
  if (c.type === "text") return { type: "input_text", text: c.text };
  if (!takes(limits, c)) return { type: "input_text", text: replaced(c) };
  const url = `data:${c.mediaType};base64,${c.data}`;
  if (c.type === "image") return { type: "input_image", image_url: url, detail: "auto" };
  return { type: "input_file", filename: c.name, file_data: url };
}
