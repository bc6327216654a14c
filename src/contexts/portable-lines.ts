// The lines of an exported context: each carries a checksum chained to the one before, so that damage has a place.

import { hash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode, isRecord } from "../ledger/guards.ts";
import type { Seq, StoredEvent } from "../ledger/store.ts";

export const FORMAT = 1;
const SUM_CHARS = 32;

export type PortableLine =
  | { holdfast: "context"; format: number; id: string; events: Seq; summary: unknown; exportedAt: number }
  /** One part of a blob, before the first event that names it: zstd, base64. */
  | { blob: string; part: number; parts: number; data: string }
  | { event: Omit<StoredEvent, "sum"> }
  | { end: true; events: Seq; blobs: number; missing: string[]; hash: string };

export function nextSum(previous: string, json: string): string {
  return hash("sha256", `${previous}\n${json}`, "hex").slice(0, SUM_CHARS);
}

export interface Placed {
  line: number;
  /** Where the line begins in the file. */
  byte: number;
}

export function damagedFile(file: string, place: Placed, why: string): HoldfastError {
  return new HoldfastError(
    "damaged",
    `${file}: line ${place.line} (byte ${place.byte}): ${why}; nothing was imported: export it again or take another copy`,
    { detail: { file, ...place, reason: why } },
  );
}

/** Contract: one line in memory at a time; throws `damaged` with line and byte at the first that does not follow from the one before. */
export async function* readLines(file: string): AsyncGenerator<{ value: PortableLine; place: Placed }> {
  let sum = "";
  const place: Placed = { line: 0, byte: 0 };
  let ended = false;
  for await (const { bytes, whole } of rawLines(file)) {
    place.line++;
    if (ended) throw damagedFile(file, place, "something stands behind the end");
    const text = bytes.toString("utf8");
    const json = text.slice(SUM_CHARS + 1);
    // Bytes that are no UTF-8 decode to something of another length or sum.
    if (!whole) throw damagedFile(file, place, "it breaks off");
    sum = nextSum(sum, json);
    if (text.slice(0, SUM_CHARS + 1) !== `${sum} ` || !bytes.equals(Buffer.from(text)))
      throw damagedFile(file, place, "the checksum does not match");
    const value = lineIn(json);
    if (!value) throw damagedFile(file, place, "it is no line of an exported context");
    ended = "end" in value;
    yield { value, place: { ...place } };
    place.byte += bytes.length + 1;
  }
  place.line++;
  if (!ended) throw damagedFile(file, place, "the file breaks off before its end");
}

/** Anybody can write such a file, with the right checksums: what a line says is looked at before it is used. */
function lineIn(json: string): PortableLine | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isLine(value: unknown): value is PortableLine {
  if (!isRecord(value)) return false;
  const has = (of: Record<string, unknown>, type: "string" | "number", ...names: string[]) =>
    names.every((name) => typeof of[name] === type);
  if ("holdfast" in value) return has(value, "string", "id") && has(value, "number", "format", "events");
  if ("blob" in value) return has(value, "string", "blob", "data") && has(value, "number", "part", "parts");
  if ("end" in value) return has(value, "string", "hash") && has(value, "number", "events");
  const { event } = value;
  if (!isRecord(event) || !Array.isArray(event.touches)) return false;
  return has(event, "string", "id", "type", "actor") && has(event, "number", "seq", "at", "v");
}

async function* rawLines(file: string): AsyncGenerator<{ bytes: Buffer; whole: boolean }> {
  if (statSync(file, { throwIfNoEntry: false })?.isCharacterDevice())
    throw new HoldfastError("invalid", `${file} is a device: give the path of an exported context`);
  let rest: Buffer[] = [];
  const stream = createReadStream(file, { highWaterMark: 1 << 18 });
  try {
    for await (const read of stream) {
      const chunk: Buffer = read;
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        yield { bytes: Buffer.concat([...rest, chunk.subarray(from, at)]), whole: true };
        rest = [];
        from = at + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
    }
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new HoldfastError("not_found", `${file} is not there: give the path of an exported context`, {
      cause: error,
    });
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), whole: false };
}
