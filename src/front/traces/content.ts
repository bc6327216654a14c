// Texts of the conversation as attributes of spans: only where somebody asked for them, without known secrets, and never whole where they are long.
import { isRecord } from "../../ledger/guards.ts";
import { oneLine } from "../presentation/printable.ts";
import type { Replied } from "./attributes.ts";
import type { ShownSince, ToolResult } from "./open-turn.ts";
import type { Attributes } from "./span.ts";

/** Of one text; of one attribute it is at most a few of them. */
const MOST_CHARS = 4_000;
const MOST_MESSAGES = 20;
const NAME_WIDTH = 80;

export interface SpanContent {
  /** As it was written. */
  ofName(name: string): string;
  ofTurn(inputs: readonly unknown[], text: string): Attributes;
  /** Only what is new since the reply before: a conversation is not sent again with each of its rounds. */
  ofReply(shown: readonly ShownSince[], reply: Replied): Attributes;
  ofCall(input: unknown, result: ToolResult): Attributes;
}

/** `hide`: known secrets. */
export function captureContent(hide: (text: string) => string): SpanContent {
  const short = (text: string): string => {
    const safe = hide(text);
    return safe.length <= MOST_CHARS ? safe : `${safe.slice(0, MOST_CHARS)}… (${safe.length - MOST_CHARS} more)`;
  };

  /** What stands in an input or a result; pictures and documents only by their type. */
  const textOf = (content: unknown): string =>
    short(
      (Array.isArray(content) ? content : [])
        .filter(isRecord)
        .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : `[${String(type)}]`))
        .join("\n"),
    );
  const textPart = (content: string) => ({ type: "text", content });
  const userMessage = (input: unknown) => ({ role: "user", parts: [textPart(textOf(input))] });

  const resultMessage = ({ callId, content }: ToolResult) => ({
    role: "tool",
    parts: [{ type: "tool_call_response", id: short(callId), response: textOf(content) }],
  });

  function replyParts(parts: Extract<Replied, { finish: string }>["parts"]): unknown[] {
    return parts.map((part) => {
      if (part.type === "call")
        return {
          ...{ type: "tool_call", id: short(part.id), name: short(part.name) },
          arguments: short(JSON.stringify(part.input) ?? ""),
        };
      return { type: part.type, content: short(part.text) };
    });
  }

  return {
    ofName: (name) => oneLine(hide(name), NAME_WIDTH),
    ofTurn: (inputs, text) => ({
      "gen_ai.input.messages": JSON.stringify(inputs.slice(-MOST_MESSAGES).map(userMessage)),
      "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [textPart(short(text))] }]),
    }),
    ofReply(shown, reply): Attributes {
      if (!("parts" in reply)) return {};
      const messages = shown
        .slice(-MOST_MESSAGES)
        .map((one) => ("input" in one ? userMessage(one.input) : resultMessage(one.result)));
      const parts = replyParts(reply.parts.slice(0, MOST_MESSAGES));
      return {
        "gen_ai.input.messages": JSON.stringify(messages),
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts, finish_reason: reply.finish }]),
      };
    },
    ofCall: (input, { content }) => ({
      ...(input !== undefined && { "gen_ai.tool.call.arguments": short(JSON.stringify(input) ?? "") }),
      "gen_ai.tool.call.result": textOf(content),
    }),
  };
}
