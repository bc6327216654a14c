// What a request is made of, piece by piece: a name to refer to it by, its size, and what it begins with.

import type { Content, Item, ReplyPart } from "../../models/model.ts";
import { oneLine } from "../presentation/printable.ts";

export interface RequestPiece {
  /** `u1`, `r3`, `c7`, as `recall` takes them; `note` of what stands for something else in the view. */
  ref: string;
  kind: "user" | "note" | "reply" | "result";
  bytes: number;
  /** One line. */
  about: string;
}

/** Columns: what is longer is read in the request itself. */
const LONGEST = 120;

/** Items never change: each is looked at once. */
const known = new WeakMap<Item, RequestPiece>();

export function requestPiece(item: Item): RequestPiece {
  let piece = known.get(item);
  if (!piece) {
    const { about, ...name } = named(item);
    piece = { ...name, about: oneLine(about, LONGEST), bytes: Buffer.byteLength(JSON.stringify(contentOf(item))) };
    known.set(item, piece);
  }
  return piece;
}

const contentOf = (item: Item): unknown => (item.kind === "reply" ? item.parts : item.content);

function named(item: Item): Omit<RequestPiece, "bytes"> {
  if (item.kind === "reply")
    return { ref: `r${item.n ?? ""}`, kind: "reply", about: item.parts.map(partLine).join(" · ") };
  const about = item.content.map(contentLine).join(" · ");
  if (item.kind === "result") return { ref: item.callId, kind: "result", about: `${item.name}: ${about}` };
  return { ref: item.n === undefined ? "note" : `u${item.n}`, kind: item.note ? "note" : "user", about };
}

const contentLine = (part: Content): string =>
  part.type === "text" ? part.text : `[${part.type} ${part.mediaType}, ${part.data.length} characters of base64]`;

function partLine(part: ReplyPart): string {
  if (part.type === "text") return part.text;
  if (part.type === "reasoning") return `(thought) ${part.text}`;
  return `${part.id} ${part.name} ${JSON.stringify(part.input)}`;
}

export const textBytes = (text: string): number => Buffer.byteLength(text);

/** `950 B`, `12.3 kB`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 999_950 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
