// How a text file looks on disk: byte order mark and line endings, kept through a change.
import { isUtf8 } from "node:buffer";
import { refused } from "./refused.ts";

export interface TextFile {
  bom: boolean;
  /** Without the mark, line endings as they are. */
  text: string;
  /** What most lines end with. */
  eol: "\n" | "\r\n";
}

const BOM = "\ufeff";

/** Contract: throws `refused` for what is not UTF-8 text: a change would damage it. */
export function parseText(bytes: Buffer, shownPath: string): TextFile {
  if (bytes.includes(0) || !isUtf8(bytes)) throw refused(`${shownPath} is not UTF-8 text; change it with bash`);
  const whole = bytes.toString("utf8");
  const bom = whole.startsWith(BOM);
  const text = bom ? whole.slice(1) : whole;
  return { bom, text, eol: eolOf(text) };
}

export function toBytes({ bom, text }: { bom: boolean; text: string }): Buffer {
  return Buffer.from(bom ? BOM + text : text, "utf8");
}

export const toLf = (text: string): string => (text.includes("\r") ? text.replaceAll("\r\n", "\n") : text);

export const withEol = (text: string, eol: TextFile["eol"]): string =>
  eol === "\n" ? text : toLf(text).replaceAll("\n", "\r\n");

function eolOf(text: string): TextFile["eol"] {
  const crlf = count(text, "\r\n");
  return crlf > 0 && crlf * 2 > count(text, "\n") ? "\r\n" : "\n";
}

function count(text: string, part: string): number {
  let n = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) n++;
  return n;
}
