// The append: what the step is given, what its answers mean, and how large blobs and long rows of digits are seen to before.
import { randomBytes } from "node:crypto";
import { crashPoint } from "../crash-point.ts";
import type { DraftedWrite, EventDraft } from "../draft.ts";
import { HoldfastError } from "../error.ts";
import { isRecord } from "../guards.ts";
import { possibleReferences } from "../references.ts";
import type { AppendOptions, Fence, StoredEvent, WakeInput, Write } from "../store.ts";
import { comeAlong, putBlobs, type ReadyBlob } from "./blobs.ts";
import type { Argument } from "./connection.ts";
import { contentDigest, damagedHere } from "./entries.ts";
import type { RedisLink } from "./link.ts";

/** One append may take so much: while it is written nobody else is served. */
const MOST_BYTES = 64 << 20;
/** What one command of the protocol may be made of is 1,048,576. */
const MOST_ARGUMENTS = 1_000_000;
/** Texts that may be names of blobs, asked for at once. */
const PAGE = 2_000;

export interface AppendRequest extends Pick<AppendOptions, "lease" | "wake"> {
  drafts: DraftedWrite[];
  blobs: ReadyBlob[];
  writer: number;
  leftMs: () => number;
}

export interface AppendAnswer {
  events: StoredEvent[];
  /** The last stroke of the bell that it rang; 0: none. */
  stroke: number;
}

/** Contract: recorded once, however often it is asked for. */
export async function appendToServer(link: RedisLink, appending: AppendRequest): Promise<AppendAnswer> {
  const { drafts, blobs, leftMs } = appending;
  const along = comeAlong(blobs);
  if (!along) await putBlobs(link, blobs, leftMs);
  // Events carry their ids; what has none is known by this one when it is asked again.
  const once = drafts.some(({ events }) => events.length > 0) ? "" : randomBytes(12).toString("hex");
  for (;;) {
    const named = await namedBlobs(link, appending);
    const args = argumentsOf(link, { ...appending, along, once, named });
    crashPoint("append.before-commit");
    const answer = await link.step("append", args, { leftMs, confirmed: true });
    const [kind, ...rest] = Array.isArray(answer) ? answer.map(String) : [];
    if (kind === "look again") continue;
    if (kind === "missing") {
      const missing = new Set(rest);
      await putBlobs(
        link,
        blobs.filter(({ hash }) => missing.has(hash)),
        leftMs,
      );
      continue;
    }
    if (kind !== "new" && kind !== "old") throw refusal(kind, rest, appending.lease);
    crashPoint("append.committed");
    const [stroke, ...values] = rest;
    return { events: storedEvents(drafts, values, kind === "old"), stroke: Number(stroke) };
  }
}

function storedEvents(drafts: DraftedWrite[], values: string[], isOld: boolean): StoredEvent[] {
  return drafts
    .flatMap(({ events }) => events)
    .flatMap(({ id, type, v, actor, data, input }, i) => {
      const [seq, at, sum] = values.slice(3 * i, 3 * i + 3);
      if (seq === undefined || at === undefined || sum === undefined) return [];
      const content: unknown = isOld ? JSON.parse(data) : input.data;
      const touches = input.touches ?? [];
      return [{ seq: Number(seq), id, at: Number(at), type, v, actor, touches, data: content, sum }];
    });
}

/** What each write's events may name. `at`: how many blobs had come when it was looked up, where it had to be. */
interface Named {
  of: string[][];
  at: string;
}

async function namedBlobs(link: RedisLink, { drafts, blobs }: Pick<AppendRequest, "drafts" | "blobs">): Promise<Named> {
  const isMany = drafts.some(({ possible }) => possible === "many");
  const at = isMany ? String((await link.command(["HGET", `${link.prefix}store`, "blobs"])) ?? "0") : "";
  const own = new Set(blobs.map(({ hash }) => hash));
  const of: string[][] = [];
  for (const { possible, events } of drafts)
    of.push(possible === "many" ? await lookUp(link, events, own) : [...(possible ?? [])]);
  return { of, at };
}

/** Long rows of digits: which of their places are names of blobs that are here, or come now. */
async function lookUp(link: RedisLink, events: EventDraft[], own: ReadonlySet<string>): Promise<string[]> {
  const named = new Set<string>();
  let page: string[] = [];
  const look = async () => {
    const sizes = page.length === 0 ? [] : await link.command(["HMGET", `${link.prefix}blobs`, ...page]);
    if (Array.isArray(sizes)) for (const [i, size] of sizes.entries()) if (size !== null) named.add(page[i] ?? "");
    page = [];
  };
  for (const { data } of events)
    for (const hash of possibleReferences(data)) {
      if (own.has(hash)) named.add(hash);
      else if (page.push(hash) >= PAGE) await look();
    }
  await look();
  return [...named];
}

type Arguments = AppendRequest & { along: boolean; once: string; named: Named };

/** In the order in which append.lua takes them. */
function argumentsOf(link: RedisLink, { drafts, blobs, wake = [], lease, ...rest }: Arguments): Argument[] {
  const args: Argument[] = [link.prefix, String(rest.writer), rest.once, link.replicas > 0 ? "1" : "0"];
  args.push(...(lease ? [lease.name, String(lease.term), lease.token] : [""]), rest.named.at);
  args.push(String(blobs.length));
  for (const { hash, size, parts } of blobs)
    args.push(hash, String(size), ...(rest.along ? [String(parts.length), ...parts] : ["0"]));
  args.push(String(wake.length));
  for (const one of wake) args.push(wakeMember(one), one.context, one.dueAt === null ? "" : String(one.dueAt));
  args.push(String(drafts.length));
  for (const [i, one] of drafts.entries()) putWrite(args, one, rest.named.of[i] ?? []);
  if (args.length > MOST_ARGUMENTS || bytesOf(args) > MOST_BYTES)
    throw new HoldfastError(
      "limit",
      `this append is over ${MOST_BYTES >> 20} MB or of about 100,000 events, more than one step of a shared server takes: write it in several`,
    );
  return args;
}

function putWrite(args: Argument[], { write, events }: DraftedWrite, named: readonly string[]): void {
  args.push(write.ledger, randomBytes(20).toString("hex"));
  args.push(...(write.base ? [String(write.base.seq), write.base.sum] : [""]));
  const expected = Object.entries(write.expect ?? {});
  args.push(String(expected.length));
  for (const [entity, version] of expected) args.push(entity, String(version));
  args.push(String(named.length), ...named, ...summaryArguments(write.summary));
  args.push(...(write.listed ? [String(write.listed.createdAt), String(write.listed.updatedAt)] : [""]));
  args.push(String(events.length));
  for (const { id, at, type, v, actor, touches, data, input } of events) {
    const list = touches ?? "";
    args.push(id, at === undefined ? "" : String(at), type, String(v), actor, list, data);
    args.push(contentDigest({ id, type, v, actor, touches: list, data }));
    const entities = new Set(input.touches);
    args.push(String(entities.size), ...entities);
  }
}

/** An object's keys are stored each by itself, so that two writers may each own some. */
function summaryArguments(summary: Write["summary"]): string[] {
  if (summary === undefined) return [""];
  if (!isRecord(summary)) return ["whole", "1", "whole", JSON.stringify(summary)];
  const keys = Object.entries(summary).filter(([, value]) => value !== undefined);
  return [
    "keys",
    String(keys.length + 1),
    "keys",
    "",
    ...keys.flatMap(([key, value]) => [`.${key}`, JSON.stringify(value)]),
  ];
}

export function summaryFrom(fields: readonly string[]): unknown {
  const pairs: [string, unknown][] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name = "", text = "null"] = fields.slice(i, i + 2);
    if (name === "whole") return summaryValue(text);
    if (name.startsWith(".")) pairs.push([name.slice(1), summaryValue(text)]);
  }
  return fields.length === 0 ? null : Object.fromEntries(pairs);
}

/** It is only shown: one that cannot be read keeps nobody from the others. */
function summaryValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As `wakesDue` reads it. */
const wakeMember = ({ context, agent, by }: Omit<WakeInput, "dueAt">): string => JSON.stringify([context, agent, by]);

const bytesOf = (args: readonly Argument[]): number =>
  args.reduce((sum, one) => sum + (typeof one === "string" ? Buffer.byteLength(one) : one.length), 0);

/** What the step answers instead of an append. */
function refusal(kind: string | undefined, rest: string[], lease: Fence | undefined): HoldfastError {
  const [one = "", two = "", three = "", four = ""] = rest;
  switch (kind) {
    case "reused":
      return new HoldfastError("id_reused", `event id ${two} is already recorded in ${one} with other content`);
    case "half":
      return new HoldfastError(
        "id_reused",
        `event ${one} is already recorded but ${two} is not: a batch is wholly new or wholly old`,
      );
    case "rolled_back": {
      const how = four === "other" ? "another event stands there" : `it ends at event ${three}`;
      return new HoldfastError(
        "rolled_back",
        `ledger ${one} has another past than event ${two} that was read (${how}): an older copy was put back, or a replica without it took over; open it anew`,
        { detail: { ledger: one, seq: Number(two), head: Number(three) } },
      );
    }
    case "fenced":
      return fenced({ term: one, token: two, holder: three }, lease);
    case "upgrade":
      return new HoldfastError("upgrade", `ledger ${one} was written by a newer Holdfast: upgrade to write to it`);
    case "conflict":
      return new HoldfastError(
        "conflict",
        `${two} in ${one} has version ${four}, not ${three}: read it again and decide anew`,
        { detail: { entity: two, expected: Number(three), actual: Number(four) } },
      );
    default:
      return damagedHere({ ledger: one, seq: Number(two), what: "an event that is known by its id is missing" });
  }
}

function fenced(row: { term: string; token: string; holder: string }, lease: Fence | undefined): HoldfastError {
  const isOurs = row.term === String(lease?.term) && row.token === lease?.token;
  const now = row.term === "" ? "not held" : row.holder === "" ? `term ${row.term}, released` : `term ${row.term}`;
  const why = isOurs ? "its host was closed" : "another host took over";
  return new HoldfastError(
    "fenced",
    `lease ${lease?.name} is no longer held under term ${lease?.term} (${now}): ${why}; stop`,
  );
}
