// The Anthropic Messages wire: what goes out, with cache marks on the stable prefix.

import type { AdapterOptions } from "./adapter-options.ts";
import { createAnthropicReading } from "./anthropic-reading.ts";
import { limitsOf } from "./catalogue.ts";
import { type Body, createGrowingBytes } from "./growing-bytes.ts";
import { createPost } from "./http-stream.ts";
import type { Content, Item, Limits, Model, ModelRequest, ReplyPart, ResultItem } from "./model.ts";
import { moreFields, rememberItems, rememberSystem, rememberTools, replaced, takenBy, takes } from "./wire-memo.ts";

const ANTHROPIC_BASE_URL = "https://api.anthropic.com";

export function createAnthropic(opts: AdapterOptions): Model {
  const id = opts.id ?? `anthropic/${opts.name}`;
  const limits = opts.limits ?? limitsOf(id);
  const base = (opts.baseUrl ?? ANTHROPIC_BASE_URL).replace(/\/+$/, "").replace(/\/v1$/, "");
  const post = createPost({
    url: `${base}/v1/messages`,
    headers: {
      "anthropic-version": "2023-06-01",
      ...(opts.apiKey ? { "x-api-key": opts.apiKey } : {}),
      ...opts.headers,
    },
    label: id,
    stallMs: opts.stallMs,
    env: opts.env,
  });
  const body = createAnthropicBody({ id, name: opts.name, limits, extra: opts.extra });
  return {
    id,
    limits,
    wire: () => ({ wire: "anthropic", name: opts.name, ...takenBy(limits), ...(opts.extra && { extra: opts.extra }) }),
    async reply(request, { signal, onDelta }) {
      const reading = createAnthropicReading(id, onDelta);
      await post(body(request), reading, signal);
      return reading.reply();
    },
  };
}

const MARK = ',"cache_control":{"type":"ephemeral"}}';
/** Blocks end in `}`: the mark goes inside the last one. */
const marked = (blocks: string) => blocks.slice(0, -1) + MARK;

export function createAnthropicBody(opts: {
  id: string;
  name: string;
  limits: Limits;
  extra?: Record<string, unknown>;
}): (request: ModelRequest) => Body {
  const extra = moreFields(opts.extra);
  const head = `{"model":${JSON.stringify(opts.name)},"stream":true${extra},"max_tokens":`;
  const tools = rememberTools(
    (tool) => JSON.stringify({ name: tool.name, description: tool.description, input_schema: tool.input }),
    (list) => (list.length > 0 ? `,"tools":[${marked(list.join(","))}]` : ""),
  );
  const system = rememberSystem((parts) => {
    const blocks = parts.filter((part) => part.trim() !== "").map((text) => JSON.stringify({ type: "text", text }));
    return blocks.length > 0 ? `,"system":[${marked(blocks.join(","))}]` : "";
  });
  const blocks = rememberItems((item) => renderItem(item, opts));
  const joined = (result: ResultItem, notes: string) => renderResult(result, opts, notes);
  const bytes = createGrowingBytes((items, from, to) => renderMessages({ items, from, to, blocks, joined, marks: [] }));
  return ({ items, maxOutputTokens, ...request }) => {
    // Everything before the marked messages stays as it is from round to round.
    const marks = lastUserMessages(items, blocks);
    const settled = marks.at(-1) ?? 0;
    const middle = bytes(items, settled);
    const last = renderMessages({ items, from: settled, to: items.length, blocks, joined, marks });
    return {
      head: `${head}${maxOutputTokens}${tools(request.tools)}${system(request.system)},"messages":[`,
      middle: middle.subarray(1),
      tail: `${middle.length === 0 ? last.slice(1) : last}]}`,
    };
  };
}

interface Range {
  items: readonly Item[];
  /** The first item of a message. */
  from: number;
  to: number;
  blocks: (item: Item) => string;
  /** A result with notes inside, behind its own content. */
  joined: (result: ResultItem, notes: string) => string;
  /** First items of the messages that carry a cache mark. */
  marks: number[];
}

/**
 * Neighbours of one role become one message, results first. Each message starts with a comma. What the runtime says right behind results
 * stands inside the last of them: a block of the user's that is no result makes some models drop what they thought before it.
 */
function renderMessages({ items, from, to, blocks, joined, marks }: Range): string {
  let out = "";
  let results = "";
  /** Not yet in `results`: notes may join it. */
  let last: ResultItem | undefined;
  let notes = "";
  let said = "";
  let start = from;
  const closeResult = () => {
    if (last) results += `,${notes === "" ? blocks(last) : joined(last, notes)}`;
    last = undefined;
    notes = "";
  };
  const closeUser = () => {
    closeResult();
    const content = results + said;
    if (content === "") return;
    const whole = content.slice(1);
    out += `,{"role":"user","content":[${marks.includes(start) ? marked(whole) : whole}]}`;
    results = "";
    said = "";
  };
  for (const [at, item] of items.slice(from, to).entries()) {
    const wire = blocks(item);
    if (wire === "") continue;
    if (item.kind === "reply") {
      closeUser();
      out += `,{"role":"assistant","content":[${wire}]}`;
      continue;
    }
    if (results === "" && said === "" && !last) start = from + at;
    if (item.kind === "result") {
      closeResult();
      last = item;
    } else if (item.withResults && last && said === "") notes += `,${wire}`;
    else said += `,${wire}`;
  }
  closeUser();
  return out;
}

const MARKED_MESSAGES = 2;

/** Where the last user messages begin, the last one first. */
function lastUserMessages(items: readonly Item[], blocks: (item: Item) => string): number[] {
  const starts: number[] = [];
  let start = -1;
  for (let i = items.length - 1; i >= 0 && starts.length < MARKED_MESSAGES; i--) {
    const item = items[i]!;
    if (blocks(item) === "") continue;
    if (item.kind !== "reply") start = i;
    else if (start >= 0) {
      starts.push(start);
      start = -1;
    }
  }
  if (start >= 0 && starts.length < MARKED_MESSAGES) starts.push(start);
  return starts;
}

interface View {
  id: string;
  limits: Limits;
}

/** An item's blocks, joined; empty where nothing of it may be shown. */
function renderItem(item: Item, view: View): string {
  if (item.kind === "reply") {
    const own = item.model === view.id;
    return item.parts
      .map((part) => renderPart(part, own))
      .filter((block) => block !== "")
      .join(",");
  }
  if (item.kind === "result") return renderResult(item, view, "");
  return contentBlocks(item.content, view) || JSON.stringify({ type: "text", text: "(empty)" });
}

const contentBlocks = (content: readonly Content[], { limits }: View): string =>
  content
    .map((c) => renderContent(c, limits))
    .filter((block) => block !== "")
    .join(",");

/** `notes`: blocks, each with a comma before it. */
function renderResult({ callId, content, isError }: ResultItem, view: View, notes: string): string {
  const only = content.length === 1 && notes === "" ? content[0] : undefined;
  const inner =
    only?.type === "text"
      ? only.text === ""
        ? ""
        : JSON.stringify(only.text)
      : `[${`${contentBlocks(content, view)}${notes}`.replace(/^,/, "")}]`;
  return `{"type":"tool_result","tool_use_id":${JSON.stringify(callId)}${inner === "" ? "" : `,"content":${inner}`}${isError ? ',"is_error":true' : ""}}`;
}

function renderPart(part: ReplyPart, own: boolean): string {
  if (part.type === "text") return part.text.trim() === "" ? "" : JSON.stringify({ type: "text", text: part.text });
  if (part.type === "call") {
    return JSON.stringify({ type: "tool_use", id: part.id, name: part.name, input: part.input ?? {} });
  }
  // Reasoning is only valid for the model that signed it.
  if (!own) return "";
  if (part.redacted !== undefined) return JSON.stringify({ type: "redacted_thinking", data: part.redacted });
  if (part.signature === undefined) return "";
  return JSON.stringify({ type: "thinking", thinking: part.text, signature: part.signature });
}

function renderContent(c: Content, limits: Limits): string {
  if (c.type === "text") return c.text.trim() === "" ? "" : JSON.stringify({ type: "text", text: c.text });
  if (!takes(limits, c)) return JSON.stringify({ type: "text", text: replaced(c) });
  if (c.type === "document" && c.mediaType !== "application/pdf" && !c.mediaType.startsWith("text/")) {
    return JSON.stringify({ type: "text", text: replaced(c) });
  }
  const source =
    c.type === "document" && c.mediaType.startsWith("text/")
      ? { type: "text", media_type: "text/plain", data: Buffer.from(c.data, "base64").toString("utf8") }
      : { type: "base64", media_type: c.mediaType, data: c.data };
  return JSON.stringify({ type: c.type, source, ...(c.type === "document" ? { title: c.name } : {}) });
}
