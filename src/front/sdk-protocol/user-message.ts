// What a line of stream-json input says: a message of the user, with its images and documents; a request of the program; or nothing for us.
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import type { Content } from "../../models/model.ts";
import type { ControlRequest } from "./control-request.ts";

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
  request_id?: string;
  request?: ControlRequest["request"];
  message?: { content?: string | Block[] };
  uuid?: string;
}

interface UserMessage {
  content: Content[];
  /** As it was sent. */
  message: unknown;
  uuid?: string;
  /** One line for each part that cannot be sent on; the model reads it in the part's place. */
  says: string[];
}

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const EXPECTED = '{"type":"user","message":{"role":"user","content":"…"}}';

/** Published lines that want nothing of us: signs of life, and answers to requests that we never make. */
const PASSED_OVER = new Set(["keep_alive", "control_response", "control_cancel_request"]);

export type Line = { user: UserMessage } | { control: ControlRequest } | { passedOver: string[] };

/** Contract: throws `invalid`, with the line's number, for what is none or half a message; what is passed over is said, unless it is published to be. */
export function inputLine(line: string, number: number): Line {
  const { type, request_id, request, ...rest } = parsed(line, number);
  if (type === "control_request" && typeof request_id === "string" && typeof request === "object" && request !== null)
    return { control: { request_id, request } };
  if (type === "user") return { user: userMessage(rest, number) };
  if (type !== undefined && PASSED_OVER.has(type)) return { passedOver: [] };
  return { passedOver: [`stdin, line ${number}: of type ${JSON.stringify(type ?? null)}, and passed over`] };
}

/** Contract: no part of it is dropped without a word. */
function userMessage({ message, uuid }: InputLine, number: number): UserMessage {
  const content = message?.content;
  if (!(typeof content === "string" || Array.isArray(content)))
    throw new HoldfastError("invalid", `stdin, line ${number}: expected ${EXPECTED}`);
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content.map(partOf);
  const says = parts.flatMap((part) => ("left" in part ? [`stdin: ${part.left}`] : []));
  return {
    content: parts.map((part) => ("left" in part ? { type: "text", text: `[${part.left}]` } : part)),
    message,
    ...(typeof uuid === "string" && { uuid }),
    says,
  };
}

function parsed(line: string, number: number): InputLine {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    throw new HoldfastError(
      "invalid",
      `stdin, line ${number}: not a line of JSON (${messageOf(error)}): send ${EXPECTED}`,
    );
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
