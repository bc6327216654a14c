// The text of the second copies: a line for an event or a summary, and whatever can still be read of one.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { digest, hex, type Row } from "../checksum.ts";
import type { Seq } from "../store.ts";
import type { LedgerEntry } from "./rows.ts";

/** One line of the copy of ledger n. */
export interface Copied {
  n: number;
  /** On the first event of a ledger. */
  name?: string;
  row?: Row;
  summary?: CopiedSummary;
}

/** What the list of ledgers said of it at that time, since event `of`, whose checksum is `sum`. */
export interface CopiedSummary {
  of: Seq;
  at: number;
  sum: Uint8Array;
  text: string;
}

/** Where the last line is looked for at first. */
const TAIL = 16 << 10;
/** No line of ours is longer: what is, is what a broken disk left. */
const LONGEST = 64 << 20;
const CHUNK = 1 << 20;
/** So much is passed over where the disk gives nothing. */
const SECTOR = 4096;
const NEWLINE = 10;

/** Data comes last, and exactly as it is stored: the checksum is over that text. */
export function eventLine(name: string, row: Row): string {
  const { seq, id, at, type, v, actor, touches } = row;
  const head = JSON.stringify({ seq, ...(seq === 1 && { name }), id, at, type, v, actor, sum: hex(row.sum) });
  return `${head.slice(0, -1)},"touches":${touches},"data":${row.data}}\n`;
}

export function summaryLine(ledger: LedgerEntry): string {
  const fields = { of: ledger.head, at: ledger.updated_at, sum: hex(ledger.hash) };
  const head = JSON.stringify({ ...fields, check: summaryCheck(ledger.n, fields, ledger.summary) });
  return `${head.slice(0, -1)},"summary":${ledger.summary}}\n`;
}

function summaryCheck(n: number, { of, at, sum }: { of: Seq; at: number; sum: string }, text: string): string {
  return hex(digest("summary", [n, of, at, sum, text]));
}

/** Every line that can be read, one after the other: a copy may be longer than any text. */
export function* linesOf(path: string): Generator<string> {
  const fd = opened(path);
  if (fd === undefined) return;
  try {
    const { size } = fstatSync(fd);
    const chunk = Buffer.alloc(Math.min(CHUNK, size));
    let begun: Buffer[] = [];
    for (let at = 0; at < size; ) {
      const got = readAt(fd, chunk, at);
      at += got || SECTOR;
      const bytes = chunk.subarray(0, got);
      let from = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
        yield Buffer.concat([...begun, bytes.subarray(from, end)]).toString("utf8");
        begun = [];
        from = end + 1;
      }
      if (got === 0 || begun.length > LONGEST / CHUNK) begun = [];
      else begun.push(Buffer.from(bytes.subarray(from)));
    }
    yield Buffer.concat(begun).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

function opened(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch {
    return undefined;
  }
}

function readAt(fd: number, into: Buffer, at: number): number {
  try {
    return readSync(fd, into, 0, into.length, at);
  } catch {
    return 0;
  }
}

export function copiedIn(line: string, n: number): Copied | undefined {
  const one = eventIn(line) ?? summaryIn(line, n);
  return one && { n, ...one };
}

/** The fields before the last one, and the text of that. No text inside a line can look like its name: its quotes would be escaped. */
function parts(line: string, last: string) {
  const at = line.indexOf(`,"${last}":`);
  if (at < 0 || !line.endsWith("}")) return undefined;
  try {
    const fields: Record<string, unknown> = JSON.parse(`${line.slice(0, at)}}`);
    return { fields, text: line.slice(at + last.length + 4, -1) };
  } catch {
    return undefined;
  }
}

function eventIn(line: string): { name?: string; row: Row } | undefined {
  const found = parts(line, "data");
  if (!found) return undefined;
  const { seq, name, id, at, type, v, actor, touches, sum } = found.fields;
  if (!whole(seq) || !whole(at) || !whole(v) || !text(id) || !text(type) || !text(actor) || !text(sum))
    return undefined;
  if ((name !== undefined && !text(name)) || (touches !== null && !texts(touches))) return undefined;
  const stored = { touches: touches === null ? null : JSON.stringify(touches), data: found.text };
  const row = { seq, id, at, type, v, actor, ...stored, sum: Buffer.from(sum, "hex") };
  return { ...(name !== undefined && { name }), row };
}

function summaryIn(line: string, n: number): { summary: CopiedSummary } | undefined {
  const found = parts(line, "summary");
  if (!found) return undefined;
  const { of, at, sum, check } = found.fields;
  if (!whole(of) || !whole(at) || !text(sum)) return undefined;
  if (check !== summaryCheck(n, { of, at, sum }, found.text)) return undefined;
  return { summary: { of, at, sum: Buffer.from(sum, "hex"), text: found.text } };
}

function whole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function text(value: unknown): value is string {
  return typeof value === "string";
}

function texts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(text);
}

/** The last event that stands there whole, and whether the file ends with a whole line. */
export function lineEnd(fd: number, size: number): { last?: Row; whole: boolean } {
  if (size === 0) return { whole: true };
  for (let length = Math.min(size, TAIL); ; length = Math.min(size, length * 4)) {
    const bytes = Buffer.alloc(length);
    readSync(fd, bytes, 0, length, size - length);
    const lines = bytes.toString("utf8").split("\n");
    const whole = lines.at(-1) === "";
    for (const line of lines.reverse()) {
      const one = eventIn(line);
      if (one) return { last: one.row, whole };
    }
    if (length === size || length >= LONGEST) return { whole };
  }
}
