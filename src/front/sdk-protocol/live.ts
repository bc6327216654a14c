// The message that is being written, as raw stream events of the Messages API. Nothing of it is a fact: the whole message follows when it is one.
import { randomUUID } from "node:crypto";
import { toClaude } from "../../claude-code/tool-names.ts";
import { type Delta, noUsage, type Usage } from "../../models/model.ts";
import { type Block, sdkCounts, sdkMessage, sdkUsage } from "./message.ts";

export interface LiveMessage {
  delta(delta: Delta): void;
  /** Contract: what is left of it is printed, then its end. Its id, when it had begun: the whole message has the same. */
  end(whole?: { content: Block[]; stopReason: string | null; used: Record<string, Usage> }): string | undefined;
}

interface Open {
  id: string;
  index: number;
  block?: Block["type"];
}

export function createLiveMessage(opts: {
  event: (event: object) => void;
  model: () => string;
  /** The id that the next call of the lead gets when it is recorded. */
  nextCall: () => string;
}): LiveMessage {
  let open: Open | undefined;

  function begin(): Open {
    const id = `msg_${randomUUID()}`;
    // Nothing is counted yet: the numbers come with its end.
    const usage = sdkUsage({ [opts.model()]: noUsage() });
    const message = sdkMessage(id, { model: opts.model(), content: [], stopReason: null, usage });
    opts.event({ type: "message_start", message });
    return { id, index: 0 };
  }

  function close(message: Open): void {
    if (message.block === undefined) return;
    opts.event({ type: "content_block_stop", index: message.index++ });
    message.block = undefined;
  }

  function start(message: Open, block: Block): void {
    close(message);
    message.block = block.type;
    opts.event({ type: "content_block_start", index: message.index, content_block: block });
  }

  const more = ({ index }: Open, delta: object) => opts.event({ type: "content_block_delta", index, delta });

  function whole(message: Open, block: Block): void {
    start(message, emptied(block));
    more(message, fillingOf(block));
    close(message);
  }

  return {
    delta(delta) {
      if (delta.type === "reset") {
        this.end();
        return;
      }
      if (delta.type !== "call" && delta.text === "") return;
      open ??= begin();
      if (open.block === "tool_use") return; // its arguments are known when the message is whole; so is what comes after it
      if (delta.type === "call") {
        start(open, { type: "tool_use", id: opts.nextCall(), name: toClaude(delta.name, {}).name, input: {} });
        return;
      }
      const block: Block =
        delta.type === "text"
          ? { type: "text", text: delta.text, citations: null }
          : { type: "thinking", thinking: delta.text, signature: "" };
      if (open.block !== block.type) start(open, emptied(block));
      more(open, fillingOf(block));
    },
    end(said) {
      if (!open) return undefined;
      const message = open;
      open = undefined;
      const content = said?.content ?? [];
      const firstCall = content.findIndex((block) => block.type === "tool_use");
      const rest = firstCall < 0 ? [] : content.slice(firstCall);
      const begun = message.block === "tool_use" ? rest.shift() : undefined;
      if (begun) more(message, fillingOf(begun));
      close(message);
      for (const block of rest) whole(message, block);
      const stop = { container: null, stop_details: null, stop_reason: said?.stopReason ?? null, stop_sequence: null };
      opts.event({ type: "message_delta", delta: stop, context_management: null, usage: sdkCounts(said?.used ?? {}) });
      opts.event({ type: "message_stop" });
      return message.id;
    },
  };
}

function emptied(block: Block): Block {
  if (block.type === "text") return { ...block, text: "" };
  return block.type === "thinking" ? { ...block, thinking: "", signature: "" } : { ...block, input: {} };
}

function fillingOf(block: Block): object {
  if (block.type === "text") return { type: "text_delta", text: block.text };
  if (block.type === "thinking") return { type: "thinking_delta", thinking: block.thinking, estimated_tokens: null };
  return { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
}
