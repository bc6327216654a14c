// Segments: a stretch of one ledger's events as one object, chained by content hash to the one before.

import { nextContentHash, type PortableEvent } from "../ledger/content-hash.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { LedgerSummary, Seq } from "../ledger/store.ts";
import type { Vault } from "./vault.ts";

const FORMAT = 1;
export const LEDGERS = "ledgers/";
const NAME = /^ledgers\/([^/]+)\/(\d+)-(\d+)\.([0-9a-f]{16})\.(\d+)\.(jsonl|blobs)\.zst$/;

/** Far more than one is cut at. */
const MOST_EVENTS = 100_000;
const BLOB = /^[0-9a-f]{64}$/;

/** The first line of a segment; its events follow, a line each. */
interface Header {
  holdfast: "segment";
  format: number;
  ledger: string;
  from: Seq;
  to: Seq;
  /** Content hashes: of everything before it, and of everything up to its end. */
  before: string;
  after: string;
  /** The ledger's listing when it was written. */
  listing: Omit<LedgerSummary, "ledger" | "head">;
  /** The hashes of the blobs that its events name. */
  blobs: string[];
}

export interface LedgerSegment {
  header: Header;
  events: PortableEvent[];
}

/** What is known of a segment by its name alone. */
export interface NamedSegment {
  name: string;
  folder: string;
  from: Seq;
  to: Seq;
  tag: string;
  /** How many blobs its events name. */
  blobs: number;
}

const seqName = (seq: Seq): string => String(seq).padStart(10, "0");

export function segmentName(vault: Vault, { ledger, from, to, after, blobs }: Header): string {
  const range = `${seqName(from)}-${seqName(to)}`;
  return `${LEDGERS}${vault.folderOf(ledger)}/${range}.${vault.tag(after)}.${blobs.length}.jsonl.zst`;
}

/** Beside a segment whose events name blobs: what `prune` reads instead of it. */
export const blobListName = (segment: string): string => segment.replace(/\.jsonl\.zst$/, ".blobs.zst");

export function namedSegment(name: string): (NamedSegment & { isBlobList: boolean }) | undefined {
  const [, folder, from, to, tag, blobs, kind] = NAME.exec(name) ?? [];
  if (folder === undefined || tag === undefined) return undefined;
  const range = { from: Number(from), to: Number(to), blobs: Number(blobs) };
  return { name, folder, tag, ...range, isBlobList: kind === "blobs" };
}

export function segmentBytes(header: Omit<Header, "holdfast" | "format">, events: readonly PortableEvent[]): Buffer {
  const first: Header = { holdfast: "segment", format: FORMAT, ...header };
  return Buffer.from([first, ...events].map((one) => `${JSON.stringify(one)}\n`).join(""));
}

export type ReadSegment =
  | { kind: "whole"; segment: LedgerSegment }
  | { kind: "missing" }
  | { kind: "damaged"; why: string };

/** Contract: whole only when every event follows from what the segment says stood before it, and its name says the same. */
export async function readSegment(vault: Vault, named: NamedSegment, ledger: string): Promise<ReadSegment> {
  const found = await vault.get(named.name);
  if (found.kind !== "whole") return found;
  const damaged = (why: string): ReadSegment => ({ kind: "damaged", why });
  // Counted before they are parsed: millions of short lines would take gigabytes.
  const count = named.to - named.from + 1;
  if (count > MOST_EVENTS || linesIn(found.bytes) !== count + 1)
    return damaged("it has other events than its name says");
  let lines: unknown[];
  try {
    lines = found.bytes
      .toString("utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  } catch {
    return damaged("a line of it is no JSON");
  }
  const [header, ...events] = lines;
  if (!isHeader(header)) return damaged("it is no segment");
  if (header.format > FORMAT)
    throw new HoldfastError("upgrade", `${named.name} was written by a newer Holdfast: upgrade to read it`);
  const { from, to, before, after } = header;
  if (header.ledger !== ledger || from !== named.from || to !== named.to || vault.tag(after) !== named.tag)
    return damaged("it is another segment than its name says");
  let sum = before;
  let seq = from - 1;
  for (const event of events) {
    if (!isEvent(event) || event.seq !== seq + 1) return damaged(`event ${seq + 1} is missing in it`);
    sum = nextContentHash(sum, event);
    seq = event.seq;
  }
  if (seq !== to || sum !== after) return damaged("its events are not those that were written");
  return { kind: "whole", segment: { header, events: events.filter(isEvent) } };
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}

function isHeader(value: unknown): value is Header {
  if (!isRecord(value) || value.holdfast !== "segment" || !isRecord(value.listing)) return false;
  const { format, from, to, before, after, ledger, blobs } = value;
  return (
    [format, from, to].every((one) => typeof one === "number") &&
    [before, after, ledger].every((one) => typeof one === "string") &&
    [value.listing.createdAt, value.listing.updatedAt].every((one) => typeof one === "number") &&
    Array.isArray(blobs) &&
    blobs.every((one) => typeof one === "string" && BLOB.test(one))
  );
}

function isEvent(value: unknown): value is PortableEvent {
  if (!isRecord(value) || !Array.isArray(value.touches)) return false;
  const { seq, id, at, type, v, actor } = value;
  return (
    [seq, at, v].every((one) => typeof one === "number") && [id, type, actor].every((one) => typeof one === "string")
  );
}
