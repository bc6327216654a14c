// Owns `stream_event` lines: a reply as it comes, in the events that the Anthropic API streams, made from what any provider sends.
import type { Delta, Usage } from "../models/model.ts";

type Line = (fields: object) => void;
type Kind = "text" | "reasoning";

export interface PartialMessages {
  delta(delta: Delta): void;
  /** The reply is whole: what began ends, before the line that has all of it. */
  end(reply: { stopReason: string; usage: Pick<Usage, "output"> }): void;
}

/** Contract: nothing is printed for a reply of which nothing streamed. Calls come whole, in the message itself. */
export function createPartialMessages(line: Line, { model }: { model: () => string }): PartialMessages {
  let begun = 0;
  let open: { index: number; kind: Kind } | undefined;
  let blocks = 0;
  let running = false;
  const event = (fields: object) => line({ type: "stream_event", event: fields, parent_tool_use_id: null });

  function begin(): void {
    if (running) return;
    running = true;
    blocks = 0;
    const usage = { input_tokens: 0, output_tokens: 0 };
    const message = { id: `partial_${++begun}`, type: "message", role: "assistant", model: model(), content: [] };
    event({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } });
  }

  function close(): void {
    if (open) event({ type: "content_block_stop", index: open.index });
    open = undefined;
  }

  function write(kind: Kind, text: string): void {
    begin();
    if (open?.kind !== kind) {
      close();
      open = { index: blocks++, kind };
      const content_block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "" };
      event({ type: "content_block_start", index: open.index, content_block });
    }
    const delta = kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    event({ type: "content_block_delta", index: open.index, delta });
  }

  function stop(): void {
    close();
    if (running) event({ type: "message_stop" });
    running = false;
  }

  return {
    delta(delta) {
      if (delta.type === "reset") stop();
      else if (delta.type === "call") close();
      else write(delta.type, delta.text);
    },
    end({ stopReason, usage }) {
      close();
      if (running) {
        const delta = { stop_reason: stopReason, stop_sequence: null };
        event({ type: "message_delta", delta, usage: { output_tokens: usage.output } });
      }
      stop();
    },
  };
}
