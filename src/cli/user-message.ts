// Owns what a line of stream-json input says: a message of the user, with its images and documents.
import { HoldfastError, messageOf } from "../ledger/error.ts";
import type { Content } from "../models/model.ts";

interface Source {
  type?: string;
  media_type?: string;
  data?: string;
}

interface Block {
  type?: string;
  text?: string;
  source?: Source;
  title?: string;
}

interface InputLine {
  type?: string;
  message?: { content?: string | Block[] };
  uuid?: string;
}

export interface UserMessage {
  content: Content[];
  /** As it was sent. */
  message: unknown;
  uuid?: string;
  /** One line for each part that cannot be sent on; the model reads it in the part's place. */
  says: string[];
}

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const EXPECTED = '{"type":"user","message":{"role":"user","content":"…"}}';

/** Contract: throws `invalid` for what is no message; no part of one is dropped without a word. */
export function userMessage(line: string): UserMessage {
  const { type, message, uuid } = parsed(line);
  const content = message?.content;
  if (type !== "user" || !(typeof content === "string" || Array.isArray(content)))
    throw new HoldfastError("invalid", `stdin: expected ${EXPECTED}`);
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content.map(partOf);
  const says = parts.flatMap((part) => ("left" in part ? [`stdin: ${part.left}`] : []));
  return {
    content: parts.map((part) => ("left" in part ? { type: "text", text: `[${part.left}]` } : part)),
    message,
    ...(typeof uuid === "string" && { uuid }),
    says,
  };
}

function parsed(line: string): InputLine {
  try {
    return JSON.parse(line) ?? {};
  } catch (error) {
    throw new HoldfastError("invalid", `stdin: not a line of JSON (${messageOf(error)}): send ${EXPECTED}`);
  }
}

/** `left`: why it is not sent on. */
function partOf(block: Block): Content | { left: string } {
  const { type, text, source, title } = block ?? {};
  if (type === "text") return { type, text: text ?? "" };
  if (type !== "image" && type !== "document")
    return { left: `a part of type ${JSON.stringify(type ?? null)} is not sent to the model` };
  if (type === "document" && source?.type === "text") return { type: "text", text: source.data ?? "" };
  const { media_type: mediaType = "", data } = source ?? {};
  if (source?.type !== "base64" || typeof data !== "string" || data === "")
    return {
      left: `the ${type} is not sent to the model: give its content, as {"type":"base64","media_type":…,"data":…}`,
    };
  if (type === "document") {
    if (mediaType === "application/pdf") return { type, mediaType, data, name: title || "document" };
  } else if (IMAGES.has(mediaType)) return { type, mediaType, data };
  return { left: `the ${type} of type ${JSON.stringify(mediaType)} is not sent to the model: no model takes it` };
}
