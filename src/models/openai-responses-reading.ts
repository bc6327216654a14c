// Reading a Responses answer: events of a stream, or a whole one, into one reply.
import { parseCallInput } from "./call-input.ts";
import { errorFromEvent } from "./http-error.ts";
import { parseJson, type Sink } from "./http-stream.ts";
import { type Delta, type Finish, noUsage, type Reply, type ReplyPart, type Usage } from "./model.ts";

interface WireText {
  type: string;
  text?: string;
  refusal?: string;
}

interface WireItem {
  type: string;
  id?: string;
  status?: string | null;
  /** Of a message: whether it comments on the work or ends it. */
  phase?: string | null;
  content?: WireText[] | null;
  summary?: WireText[] | null;
  encrypted_content?: string | null;
  call_id?: string;
  name?: string;
  arguments?: string;
}

interface WireResponse {
  status?: string;
  error?: unknown;
  incomplete_details?: { reason?: string } | null;
  output?: WireItem[];
  usage?: {
    input_tokens?: number;
    output_tokens?: number;
    input_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
  } | null;
}

interface WireEvent {
  type: string;
  output_index?: number;
  summary_index?: number;
  content_index?: number;
  delta?: string;
  item?: WireItem;
  response?: WireResponse;
}

/** An item while it streams. */
interface OpenItem {
  wire: WireItem;
  text: string;
  args: string;
  /** Which section of its reasoning streamed last. */
  section: string;
  /** The item came whole. */
  settled: boolean;
}

export function createOpenAIResponsesReading(
  model: string,
  onDelta: ((delta: Delta) => void) | undefined,
): Sink & { reply(): Reply } {
  const items: OpenItem[] = [];
  let end: WireResponse | undefined;

  /** Some servers do not number their items: then they come one after the other. */
  const indexOf = (event: WireEvent) =>
    event.output_index ?? (items.at(-1)?.settled === false ? items.length - 1 : items.length);

  const open = (index: number, wire: WireItem): OpenItem => {
    const item = { wire, text: "", args: "", section: "", settled: false };
    items[index] = item;
    if (wire.type === "function_call") onDelta?.({ type: "call", name: wire.name ?? "" });
    return item;
  };

  const say = (item: OpenItem, text: string) => {
    if (text === "") return;
    item.text += text;
    onDelta?.({ type: item.wire.type === "reasoning" ? "reasoning" : "text", text });
  };

  /** What the whole item holds counts; it is only said again where nothing of it had streamed. */
  const settle = (index: number, wire: WireItem) => {
    const item = items[index] ?? open(index, wire);
    item.wire = wire;
    item.settled = true;
    item.args = wire.arguments || item.args;
    const whole = itemText(wire);
    if (item.text === "") say(item, whole);
    else item.text = whole || item.text;
  };

  const think = (item: OpenItem, event: WireEvent) => {
    const section = `${event.type} ${event.summary_index ?? event.content_index ?? 0}`;
    if (item.text !== "" && section !== item.section) say(item, BETWEEN_SECTIONS);
    item.section = section;
    say(item, event.delta ?? "");
  };

  const finish = (response: WireResponse) => {
    (response.output ?? []).forEach((wire, i) => {
      if (!items[i]?.settled) settle(i, wire);
    });
    end = response;
  };

  const take = (event: WireEvent) => {
    const item = items[event.output_index ?? items.length - 1];
    switch (event.type) {
      case "response.output_item.added":
        if (event.item) open(indexOf(event), event.item);
        break;
      case "response.output_item.done":
        if (event.item) settle(indexOf(event), event.item);
        break;
      case "response.output_text.delta":
      case "response.refusal.delta":
        if (item) say(item, event.delta ?? "");
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        if (item) think(item, event);
        break;
      case "response.function_call_arguments.delta":
        if (item) item.args += event.delta ?? "";
        break;
      case "response.completed":
      case "response.incomplete":
        finish({ status: event.type.slice("response.".length), ...event.response });
        break;
      case "response.failed":
      case "error":
        throw errorFromEvent(model, event.response ?? event);
    }
  };

  const partsOf = (opts: { calls: boolean }): ReplyPart[] =>
    items.flatMap((item, i): ReplyPart[] => {
      const { wire, text } = item;
      if (wire.type === "reasoning") {
        const kept = item.settled ? keepsake(wire) : {};
        return text === "" && !("signature" in kept) ? [] : [{ type: "reasoning", text, ...kept }];
      }
      if (wire.type === "message") {
        if (text === "") return [];
        const phase: ReplyPart[] = wire.phase
          ? [{ type: "reasoning", text: "", signature: JSON.stringify({ phase: wire.phase }) }]
          : [];
        return [...phase, { type: "text", text }];
      }
      if (wire.type !== "function_call" || !opts.calls) return [];
      const cutShort = end?.status === "incomplete" && wire.status !== "completed";
      const id = wire.call_id || `call_${i + 1}`;
      return [{ type: "call", id, name: wire.name ?? "", ...parseCallInput(item.args, { cutShort }) }];
    });

  return {
    event(data) {
      // Not part of this wire, but some servers send it out of habit.
      if (data !== "[DONE]") take(parseJson<WireEvent>(data, model));
    },
    whole(text) {
      const response = parseJson<WireResponse>(text, model);
      if (response.error || response.status === "failed") throw errorFromEvent(model, response);
      finish(response);
    },
    ended: () => end !== undefined,
    marked: () => end !== undefined,
    partial: () => partsOf({ calls: false }),
    reply() {
      const parts = partsOf({ calls: true });
      const refused = items.some(({ wire }) => wire.content?.some((part) => part.type === "refusal"));
      return { model, parts, finish: finishOf(end ?? {}, parts, refused), usage: usageOf(end?.usage) };
    },
  };
}

const BETWEEN_SECTIONS = "\n\n";

function itemText({ type, content, summary }: WireItem): string {
  const texts = (list: WireText[] | null | undefined) => (list ?? []).map((part) => part.text ?? part.refusal ?? "");
  if (type !== "reasoning") return texts(content).join("");
  return texts(summary?.length ? summary : content).join(BETWEEN_SECTIONS);
}

/** The item as the model takes it back. Open models seal nothing: their thoughts go back in words; the others refuse words. */
function keepsake({ id, summary, content, encrypted_content }: WireItem): { signature?: string } {
  const inside = encrypted_content ? { encrypted_content } : content?.length ? { content } : undefined;
  if (!inside) return {};
  return { signature: JSON.stringify({ type: "reasoning", id, summary: summary ?? [], ...inside }) };
}

function finishOf({ status, incomplete_details }: WireResponse, parts: ReplyPart[], refused: boolean): Finish {
  const filtered = incomplete_details?.reason === "content_filter";
  if (status === "incomplete" && !filtered) return "length";
  if (parts.some((part) => part.type === "call")) return "calls";
  if (filtered || refused) return "refused";
  return status === "completed" ? "stop" : "other";
}

function usageOf(given: WireResponse["usage"]): Usage {
  if (!given) return noUsage();
  const cacheRead = given.input_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = given.input_tokens_details?.cache_write_tokens ?? 0;
  const input = Math.max(0, (given.input_tokens ?? 0) - cacheRead - cacheWrite);
  return { input, output: given.output_tokens ?? 0, cacheRead, cacheWrite };
}
