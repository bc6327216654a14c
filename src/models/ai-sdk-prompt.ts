// The transcript as AI SDK providers take it. Items and tools are mapped once, as on the native wires.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { Keepsake } from "./ai-sdk-reading.ts";
import { nineCharacterId } from "./call-ids.ts";
import type { Content, Item, Limits, ModelRequest, ReplyPart, ToolSpec } from "./model.ts";
import { plainText, rememberItems, replaced, takes } from "./wire-memo.ts";

/** Providers read only the options under their own name. */
const CACHED: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

type Mapped = LanguageModelV4Message | LanguageModelV4ToolResultPart | null;

export function createAiSdkPrompt(view: {
  id: string;
  limits: Limits;
}): (request: ModelRequest) => LanguageModelV4Prompt {
  const map = rememberItems<Mapped>((item) => mapItem(item, view));
  return (request) => {
    const system = request.system.filter((text) => text.trim() !== "");
    const prompt: LanguageModelV4Prompt = system.map((content, i) => ({
      role: "system",
      content,
      ...(i === system.length - 1 ? { providerOptions: CACHED } : {}),
    }));
    let results: LanguageModelV4ToolResultPart[] | undefined;
    for (const item of request.items) {
      const mapped = map(item);
      if (mapped === null) continue;
      if ("role" in mapped) {
        results = undefined;
        prompt.push(mapped);
      } else if (results) results.push(mapped);
      else {
        results = [mapped];
        prompt.push({ role: "tool", content: results });
      }
    }
    const last = prompt.at(-1);
    if (last && last.role !== "system") prompt[prompt.length - 1] = { ...last, providerOptions: CACHED };
    return prompt;
  };
}

export function createAiSdkTools(): (tools: readonly ToolSpec[]) => LanguageModelV4FunctionTool[] | undefined {
  const known = new WeakMap<readonly ToolSpec[], LanguageModelV4FunctionTool[]>();
  return (tools) => {
    if (tools.length === 0) return undefined;
    let mapped = known.get(tools);
    if (!mapped) {
      mapped = tools.map((tool, i) => ({
        type: "function",
        name: tool.name,
        description: tool.description,
        inputSchema: tool.input,
        ...(i === tools.length - 1 ? { providerOptions: CACHED } : {}),
      }));
      known.set(tools, mapped);
    }
    return mapped;
  };
}

function mapItem(item: Item, view: { id: string; limits: Limits }): Mapped {
  if (item.kind === "user") return { role: "user", content: item.content.map((c) => mapContent(c, view.limits)) };
  if (item.kind === "reply") {
    const content = assistantContent(item.parts, item.model === view.id);
    return content.length > 0 ? { role: "assistant", content } : null;
  }
  const { name: toolName, isError } = item;
  const toolCallId = nineCharacterId(item.callId);
  const shown = item.content.some((c) => c.type !== "text" && takes(view.limits, c));
  const output: LanguageModelV4ToolResultPart["output"] = shown
    ? { type: "content", value: item.content.map((c) => mapContent(c, view.limits)) }
    : { type: isError ? "error-text" : "text", value: plainText(item.content) };
  return { type: "tool-result", toolCallId, toolName, output };
}

function mapContent(c: Content, limits: Limits): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (c.type === "text") return { type: "text", text: c.text };
  if (!takes(limits, c)) return { type: "text", text: replaced(c) };
  const data = { type: "data" as const, data: c.data };
  return { type: "file", mediaType: c.mediaType, data, ...(c.type === "document" ? { filename: c.name } : {}) };
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** Reasoning, and what a provider wants back with a call, goes only to the model that wrote it. */
function assistantContent(parts: readonly ReplyPart[], own: boolean): AssistantContent {
  const content: AssistantContent = [];
  let calls = 0;
  let forCall: SharedV4ProviderOptions | undefined;
  for (const part of parts) {
    if (part.type === "text") {
      if (part.text !== "") content.push({ type: "text", text: part.text });
    } else if (part.type === "call") {
      const options = forCall ? { providerOptions: forCall } : {};
      content.push({
        type: "tool-call",
        toolCallId: nineCharacterId(part.id),
        toolName: part.name,
        input: part.input ?? {},
        ...options,
      });
      forCall = undefined;
      calls++;
    } else if (own && part.signature !== undefined) {
      const kept = JSON.parse(part.signature) as Keepsake;
      const providerOptions = kept.metadata as SharedV4ProviderOptions;
      if (kept.call === calls) forCall = providerOptions;
      else content.push({ type: "reasoning", text: part.text, providerOptions });
    } else if (own) content.push({ type: "reasoning", text: part.text });
  }
  return content;
}
