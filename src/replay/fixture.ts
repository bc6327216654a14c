// A recording as a file for tests: the events of one context, one a line, without the secrets of whoever wrote it.
import { readFile } from "node:fs/promises";
import { nameBlob } from "../ledger/checksum.ts";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode, isRecord } from "../ledger/guards.ts";
import type { Store, StoredEvent } from "../ledger/store.ts";
import { redactor } from "../mechanisms/redaction/index.ts";
import { VERSION } from "../version.ts";
import { isFact, readRecording } from "./recording.ts";
import { houseOf, type Replayed, type ReplayOptions, replayEvents } from "./replay.ts";

const FORMAT = 1;

export interface Fixture {
  context: string;
  /** The Holdfast that wrote it. */
  version: string;
  events: StoredEvent[];
}

/**
 * Hides secrets everywhere, and makes the fingerprints fit what is left. Contract: it replays like the original, or this throws: where
 * a secret was long, less may have been decided to fit.
 */
async function redacted(
  context: string,
  events: readonly StoredEvent[],
  hide: (text: string) => string,
): Promise<StoredEvent[]> {
  const hidden = events.map((event) => ({ ...event, data: hiddenIn(event.data, hide) }));
  if (hidden.every(({ data }, i) => JSON.stringify(data) === JSON.stringify(events[i]?.data))) return [...events];
  const shown = new Map<number, string>();
  const named = hidden.map(withHashes);
  await replayEvents(context, named, { most: Number.POSITIVE_INFINITY, onShown: (seq, hash) => shown.set(seq, hash) });
  const whole = named.map((event) => {
    const hash = shown.get(event.seq);
    if (!isFact(event, "reply.received") || hash === undefined || event.data.shown === undefined) return event;
    return { ...event, data: { ...event.data, shown: hash } };
  });
  const [first] = (await replayEvents(context, whole)).differences;
  if (first)
    throw new HoldfastError(
      "invalid",
      `without its secrets ${context} is another conversation (event ${first.seq}, ${first.event}): export it where they are not set`,
    );
  return whole;
}

/** One context as such a file, without the secrets of whoever asks. */
export async function recordedFixture(
  store: Pick<Store, "read" | "blob">,
  context: string,
): Promise<{ text: string; events: number }> {
  const events = await readRecording(store, houseOf().codec, context);
  const hide = redactor(process.env) ?? ((text: string) => text);
  return { text: fixtureText({ context, events: await redacted(context, events, hide) }), events: events.length };
}

function hiddenIn(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((one) => hiddenIn(one, hide));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hiddenIn(one, hide)]));
}

const hashOf = (text: string): string => nameBlob(Buffer.from(text));

function withHashes(event: StoredEvent): StoredEvent {
  if (!isFact(event, "request.changed")) return event;
  const { system, tools, settings } = event.data;
  const data = {
    ...(system && { system: { ...system, hash: hashOf(JSON.stringify(system.blocks)) } }),
    ...(tools && { tools: { ...tools, hash: hashOf(tools.specs) } }),
    ...(settings && { settings: { ...settings, hash: hashOf(settings.json) } }),
  };
  return { ...event, data };
}

function fixtureText({ context, events }: Pick<Fixture, "context" | "events">): string {
  const head = { holdfast: "recording", format: FORMAT, context, version: VERSION, events: events.length };
  const lines = events.map(({ seq, id, at, type, v, actor, touches, data }) => ({
    seq,
    id,
    at,
    type,
    v,
    actor,
    touches,
    data,
  }));
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

export async function readFixture(file: string): Promise<Fixture> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new HoldfastError(
      "not_found",
      `${file} is not there: a recording is written by contexts export with --as-test`,
    );
  });
  const [head, ...lines] = text
    .split("\n")
    .filter((line) => line !== "")
    .map(parsed);
  const isOurs = head?.holdfast === "recording" && typeof head.context === "string" && typeof head.version === "string";
  if (!isOurs || head.events !== lines.length)
    throw new HoldfastError("invalid", `${file} is no whole recording: write it by contexts export with --as-test`);
  if (typeof head.format === "number" && head.format > FORMAT)
    throw new HoldfastError("upgrade", `${file} was written by a newer Holdfast: upgrade to replay it`);
  return {
    context: String(head.context),
    version: String(head.version),
    events: lines.map((line) => eventIn(line, file)),
  };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function eventIn(line: Record<string, unknown> | undefined, file: string): StoredEvent {
  const { seq, id, at, type, v, actor, touches, data } = line ?? {};
  const isWhole = typeof seq === "number" && typeof at === "number" && typeof v === "number";
  if (!isWhole || typeof id !== "string" || typeof type !== "string" || typeof actor !== "string")
    throw new HoldfastError("invalid", `${file}: ${JSON.stringify(line)?.slice(0, 80)} is no event`);
  return { seq, id, at, type, v, actor, touches: Array.isArray(touches) ? touches.map(String) : [], data };
}

/** What an older version wrote is read as what it means now; what nobody here knows is left out. */
export async function replayFixture(file: string, opts: ReplayOptions = {}): Promise<Replayed> {
  const { context, events } = await readFixture(file);
  const { codec } = houseOf(opts);
  const known = events.flatMap((event) => {
    const decoded = codec.decode(event);
    if (!decoded.ok && decoded.problem === "newer")
      throw new HoldfastError("upgrade", `${file} was written by a newer Holdfast: upgrade to replay it`);
    return decoded.ok ? [decoded.event] : [];
  });
  return replayEvents(context, known, opts);
}
