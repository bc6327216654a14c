// What was before: the last lines of a context that is gone on with, the prompts that were typed, and all of it to scroll through.
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import { printable } from "../../front/presentation/printable.ts";
import type { Style } from "../../front/presentation/style.ts";
import { createTally } from "../../front/presentation/tally.ts";
import { createRunning } from "../../front/terminal/running.ts";
import { createTranscript } from "../../front/terminal/transcript.ts";
import type { Size } from "../../front/terminal/view.ts";
import { pastEvents } from "../../front/text/past-output.ts";
import { isRecord } from "../../ledger/guards.ts";
import { openLedger } from "../../ledger/ledger.ts";
import { unspill } from "../../ledger/spill.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import { contextState, LEAD } from "../../loop/agent.ts";
import { counted } from "../../text/counted.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import type { OpenState } from "../open.ts";

/** Of a context that is gone on with: so many lines, made of at most so many events. */
const SHOWN_LINES = 30;
const READ_EVENTS = 300;
const MOST_CONTEXTS = 20;
const MOST_PROMPTS = 200;

const readersOf = ({ project, jobsDir }: OpenState) => ledgerReaders({ root: project.root, jobsDir });

interface Look {
  style: Style;
  size: () => Size;
}

/** Lines as the terminal prints them, of what is over. */
function pastLines({ style, size }: Look): { event(event: StoredEvent): void; lines: string[] } {
  const lines: string[] = [];
  const running = createRunning({ style, lead: LEAD, now: () => 0 });
  const append = (more: string[]) => lines.push(...more);
  const transcript = createTranscript({ style, size, running, tally: createTally(), append, changed: () => undefined });
  return { event: (event) => transcript.event({ type: "event", event }), lines };
}

const TAKEN = new Set(["input.taken", "input.answered", "input.blocked"]);
const inputOf = ({ data }: StoredEvent): unknown => (isRecord(data) ? data.inputId : undefined);

/** All that happened in it, on the timeline that counts. */
export async function wholePast(state: OpenState, context: string, look: Look): Promise<string[]> {
  const { codec, fold } = await readersOf(state);
  const ledger = await openLedger({ store: state.store, name: context, codec, fold });
  const events: StoredEvent[] = [];
  for await (const event of pastEvents(state.store, ledger, codec)) events.push(event);
  const queued = Object.values(contextState(ledger).agents).flatMap(({ queue }) => queue.map(({ inputId }) => inputId));
  // An input is received before the checkpoint that is made for it: one that a restore took back is no part of what counts.
  const counts = new Set([...queued, ...events.filter(({ type }) => TAKEN.has(type)).map(inputOf)]);
  const past = pastLines(look);
  for (const event of events) if (event.type !== "input.received" || counts.has(inputOf(event))) past.event(event);
  return past.lines;
}

/** Its end, however long it is. */
export async function recentPast(state: OpenState, { id }: ContextInfo, look: Look): Promise<string[]> {
  const head = await state.store.head(id);
  const earlier = look.style.dim(`▲ earlier (${counted(head, "event")} in all): /transcript`);
  // Where it went back, what lies behind that no longer counts.
  if ((await state.store.version(id, "ctx:restores")) > 0) {
    const all = await wholePast(state, id, look);
    return all.length > SHOWN_LINES ? [earlier, ...all.slice(-SHOWN_LINES)] : all;
  }
  const after: Seq = Math.max(0, head - READ_EVENTS);
  const { codec } = await readersOf(state);
  const past = pastLines(look);
  for await (const raw of state.store.read(id, { after })) {
    const { data } = await unspill(raw.data, state.store.blob);
    const decoded = codec.decode({ ...raw, data });
    if (decoded.ok) past.event(decoded.event);
  }
  const { lines } = past;
  const isCut = after > 0 || lines.length > SHOWN_LINES;
  return [...(isCut ? [earlier] : []), ...lines.slice(-SHOWN_LINES)];
}

/** What people typed in this project, the newest last, each once. */
export async function pastPrompts({ store }: OpenState): Promise<string[]> {
  const found: string[] = [];
  const contexts = (await listContexts(store)).filter(({ aside }) => !aside).slice(0, MOST_CONTEXTS);
  for (const { id } of contexts) {
    const here: string[] = [];
    for await (const { data, actor } of store.read(id, { types: ["input.received"] })) {
      const text = actor === "user" ? wordsOf(data) : "";
      // A person's own commands are never recorded as words: one that stands there is somebody else's.
      if (text !== "" && !text.startsWith("!")) here.push(text);
    }
    found.unshift(...here);
    if (found.length > MOST_PROMPTS) break;
  }
  return [...new Set(found.toReversed())].toReversed().slice(-MOST_PROMPTS);
}

/** The words that a checkpoint was made for. */
export async function promptAfter({ store }: OpenState, context: string, checkpoint: Seq): Promise<string | undefined> {
  for await (const taken of store.read(context, { after: checkpoint, types: ["input.taken"] })) {
    if (taken.actor !== LEAD) continue;
    for await (const event of store.read(context, { upTo: taken.seq, types: ["input.received"] }))
      if (event.actor === "user" && inputOf(event) === inputOf(taken)) {
        const { data } = await unspill(event.data, store.blob);
        return wordsOf(data) || undefined;
      }
    return undefined; // it was nobody's words
  }
  return undefined;
}

/** The words themselves, without what came with them. */
function wordsOf(data: unknown): string {
  const [first]: unknown[] = isRecord(data) && Array.isArray(data.content) ? data.content : [];
  return isRecord(first) && typeof first.text === "string" ? printable(first.text).trim() : "";
}
