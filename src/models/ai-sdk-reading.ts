// Reading an AI SDK stream: its parts into those of a reply.
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { parseCallInput } from "./call-input.ts";
import type { Delta, Finish, ReplyPart } from "./model.ts";

type Metadata = Record<string, Record<string, unknown>>;

/** What a provider wants back with its reasoning or with its n-th call; kept as the signature of a reasoning part. */
export interface Keepsake {
  metadata: Metadata;
  call?: number;
}

interface Open {
  type: "text" | "reasoning" | "call";
  id: string;
  text: string;
  name: string;
  metadata?: Metadata;
  /** A call is whole only when the provider says so. */
  whole: boolean;
}

export function createAiSdkReading(onDelta: ((delta: Delta) => void) | undefined) {
  const blocks: Open[] = [];
  let reason: string | undefined;
  let usage: LanguageModelV4Usage | undefined;

  const open = (type: Open["type"], id: string, name = ""): Open => {
    const block: Open = { type, id, text: "", name, whole: false };
    blocks.push(block);
    if (type === "call") onDelta?.({ type: "call", name });
    return block;
  };
  const find = (type: Open["type"], id: string) =>
    blocks.findLast((b) => b.type === type && b.id === id) ?? open(type, id);
  const keep = (block: Open, metadata: unknown) => {
    if (metadata) block.metadata = { ...block.metadata, ...(metadata as Metadata) };
  };

  const partsOf = (with_: { calls: boolean }): ReplyPart[] => {
    const parts: ReplyPart[] = [];
    let calls = 0;
    for (const block of blocks) {
      if (block.type === "text") {
        if (block.text !== "") parts.push({ type: "text", text: block.text });
      } else if (block.type === "reasoning") {
        if (block.text === "" && !block.metadata) continue;
        parts.push({ type: "reasoning", text: block.text, ...keepsake({ metadata: block.metadata ?? {} }) });
      } else if (with_.calls) {
        if (block.metadata) {
          parts.push({ type: "reasoning", text: "", ...keepsake({ metadata: block.metadata, call: calls }) });
        }
        calls++;
        const input = parseCallInput(block.text, { cutShort: !block.whole });
        parts.push({ type: "call", id: block.id, name: block.name, ...input });
      }
    }
    return parts;
  };

  return {
    take(part: LanguageModelV4StreamPart): void {
      switch (part.type) {
        case "text-delta":
          find("text", part.id).text += part.delta;
          onDelta?.({ type: "text", text: part.delta });
          break;
        case "reasoning-start":
          keep(open("reasoning", part.id), part.providerMetadata);
          break;
        case "reasoning-delta": {
          const block = find("reasoning", part.id);
          block.text += part.delta;
          keep(block, part.providerMetadata);
          if (part.delta !== "") onDelta?.({ type: "reasoning", text: part.delta });
          break;
        }
        case "reasoning-end":
          keep(find("reasoning", part.id), part.providerMetadata);
          break;
        case "tool-input-start":
          if (!part.providerExecuted) open("call", part.id, part.toolName);
          break;
        case "tool-input-delta": {
          const block = blocks.findLast((b) => b.type === "call" && b.id === part.id);
          if (block) block.text += part.delta;
          break;
        }
        case "tool-call": {
          if (part.providerExecuted) break;
          const known = blocks.findLast((b) => b.type === "call" && b.id === part.toolCallId);
          const block = known ?? open("call", part.toolCallId, part.toolName);
          block.text = part.input;
          block.whole = true;
          keep(block, part.providerMetadata);
          break;
        }
        case "finish":
          reason = part.finishReason.unified;
          usage = part.usage;
          break;
      }
    },
    partial: (): ReplyPart[] => partsOf({ calls: false }),
    end: () => ({ finish: reason, parts: partsOf({ calls: true }), usage }),
    finish(): Finish {
      if (reason === "length") return "length";
      if (blocks.some((b) => b.type === "call")) return "calls";
      if (reason === "content-filter") return "refused";
      return reason === "stop" || reason === "tool-calls" ? "stop" : "other";
    },
  };
}

const keepsake = (kept: Keepsake) => (Object.keys(kept.metadata).length > 0 ? { signature: JSON.stringify(kept) } : {});
