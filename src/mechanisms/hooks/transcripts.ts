// The transcripts that hooks may read: one file of JSON lines an agent, a copy of what the ledger says; never read back as a fact.
import fs from "node:fs";
import path from "node:path";
import type { contextEvents } from "../../contexts/events.ts";
import { type Jump, visibleRanges } from "../../contexts/visible-ranges.ts";
import { withLock } from "../../file-snapshots/lock.ts";
import { messageOf } from "../../ledger/error.ts";
import { fileName } from "../../ledger/file-name.ts";
import { knownFact } from "../../ledger/guards.ts";
import type { FactRange } from "../../ledger/read-facts.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import { COPIED, LEFT } from "../../loop/rewind.ts";
import type { Turn } from "../../loop/seams.ts";
import { lastLine, type TranscriptPlace, transcriptPlace, writeLines } from "./transcript-file.ts";
import {
  closeOpen,
  LINE_EVENTS,
  newStanding,
  REWINDING,
  type TranscriptState,
  transcriptLine,
  type Whose,
} from "./transcript-lines.ts";
import { sweepHookFiles, transcriptDir, transcriptFile } from "./transcript-places.ts";

export interface TranscriptOptions {
  /** What is durable of a context, as it is recorded. */
  recorded: (context: string, range: FactRange) => AsyncIterable<StoredEvent>;
  version: string;
  hide?: (text: string) => string;
}

export interface Transcripts {
  /** Contract: all that is durable now is in the files, whoever wrote there before; never throws: says what is wrong. */
  update(turn: Pick<Turn, "context" | "agent">): Promise<string | undefined>;
}

/** How far a file is written, and what the next line rests on. */
interface Written {
  place: TranscriptPlace;
  seq: Seq;
  at: TranscriptState;
}

/** Whose transcript it is, and where its events are read. */
interface Source extends Whose {
  recorded: TranscriptOptions["recorded"];
}

/** A restore of the conversation. */
interface Back extends Jump {
  event: StoredEvent;
}

/** Another process may write for a subagent of the same context; nobody needs this long. */
const WAIT_MS = 5_000;
const COPIES = ["context.forked", "context.imported"];
const TYPES = [...new Set<string>([...LINE_EVENTS, ...REWINDING])];

export function createTranscripts(stateDir: string, { recorded, version, hide }: TranscriptOptions): Transcripts {
  const dir = transcriptDir(stateDir);
  let swept = false;
  const written = new Map<string, Written>();
  const busy = new Map<string, Promise<unknown>>();

  async function updateOne(context: string, agent: string): Promise<void> {
    const file = transcriptFile(stateDir, context, agent);
    const whose: Source = { context, agent, version, recorded, ...(hide && { hide }) };
    const known = written.get(file);
    written.delete(file); // until it is known again
    const from = known && isStill(known.place, file) ? known : await pickUp(file, whose);
    const after = from && (await goOn(file, from, whose));
    written.set(file, after ?? (await rewrite(file, whose)));
  }

  async function isThere(context: string): Promise<boolean> {
    for await (const _ of recorded(context, { after: 0, upTo: 1, types: ["context.created"] })) return true;
    return false;
  }

  return {
    update({ context, agent }) {
      const before = busy.get(context) ?? Promise.resolve();
      const work = before.then(async () => {
        try {
          fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
          const lock = path.join(dir, `${fileName(context)}.lock`);
          await withLock(lock, WAIT_MS, async () => {
            for (const one of new Set([LEAD, agent])) await updateOne(context, one);
          });
          if (!swept) sweepHookFiles(stateDir, isThere).catch(() => undefined); // beside: nobody waits for it
          swept = true;
          return undefined;
        } catch (error) {
          return `the transcript for hooks could not be written (${messageOf(error)}): hooks that read it see an older one`;
        }
      });
      busy.set(context, work);
      return work;
    },
  };
}

/** Where an earlier process stopped. Undefined: there is none, or it says something else than the ledger. */
async function pickUp(file: string, whose: Source): Promise<Written | undefined> {
  const last = lastLine(file);
  if (!last) return undefined;
  const { cwd, version: then, parentUuid: parent, holdfast } = last.line;
  const { seq, needs = seq } = holdfast;
  const at: TranscriptState = { ...newStanding(), cwd, parent };
  for await (const event of whose.recorded(whose.context, { after: needs - 1, upTo: seq, types: TYPES })) {
    if (event.seq === seq)
      return transcriptLine(event, at, { ...whose, version: then }) === last.written
        ? { place: last.place, seq, at }
        : undefined;
    transcriptLine(event, { ...at }, whose); // only what waits is not known from the line
  }
  return undefined;
}

/** Undefined: what came since makes it another transcript. */
async function goOn(file: string, { place, seq, at }: Written, whose: Source): Promise<Written | undefined> {
  const lines: string[] = [];
  let upTo = seq;
  for await (const event of whose.recorded(whose.context, { after: seq, types: TYPES })) {
    if (isRewinding(event)) return undefined;
    const line = transcriptLine(event, at, whose);
    if (line !== undefined) lines.push(line);
    upTo = event.seq;
  }
  if (lines.length === 0) return { place, seq: upTo, at };
  return { place: await writeLines(file, place, lines), seq: upTo, at };
}

/** From the first event, along the timeline of now. */
async function rewrite(file: string, whose: Source): Promise<Written> {
  const jumps: Back[] = [];
  let seq = 0;
  for await (const event of whose.recorded(whose.context, { after: 0, types: TYPES })) {
    seq = event.seq;
    const { type, data } = knownFact<typeof contextEvents>(event);
    if (type === "context.restored" && data.conversation) jumps.push({ seq, to: data.seq, event });
  }
  const at = newStanding();
  const place = await writeLines(file, undefined, timeline(jumps, seq, at, whose));
  return { place, seq, at };
}

async function* timeline(
  jumps: readonly Back[],
  upTo: Seq,
  at: TranscriptState,
  whose: Source,
): AsyncGenerator<string> {
  for (const [from, to] of visibleRanges(jumps, upTo)) {
    const back = jumps.find((one) => one.seq === from - 1);
    if (back) yield* closeOpen(back.event, LEFT, at, whose);
    for await (const event of whose.recorded(whose.context, { after: from - 1, upTo: to, types: TYPES })) {
      if (COPIES.includes(event.type)) yield* closeOpen(event, COPIED, at, whose);
      const line = transcriptLine(event, at, whose);
      if (line !== undefined) yield line;
    }
  }
  const last = jumps.at(-1);
  if (last?.seq === upTo) yield* closeOpen(last.event, LEFT, at, whose);
}

/** A restore of data or files alone leaves the conversation as it was. */
function isRewinding(event: StoredEvent): boolean {
  const { type, data } = knownFact<typeof contextEvents>(event);
  return REWINDING.includes(type) && (type !== "context.restored" || data.conversation);
}

const isStill = (place: TranscriptPlace, file: string): boolean => {
  const now = transcriptPlace(file);
  return now !== undefined && now.inode === place.inode && now.size === place.size;
};
