// The seams of a replay: the mechanisms of the present build where they go by the ledger, the recording where they went by the world.
import { messageOf } from "../ledger/error.ts";
import { type Merged, mergeSeams } from "../loop/merge.ts";
import type { AskedAt } from "../loop/outside.ts";
import { isNamed } from "../loop/outside.ts";
import type { Mechanism, Note, Tool, ToolOutput, ToolRun, Turn } from "../loop/seams.ts";
import type { StopOptions } from "../loop/stop-options.ts";
import type { Reply } from "../models/model.ts";
import { createGate } from "./gate.ts";
import type { House } from "./house.ts";
import { ahead, finishedOf, nextOf, nextOfCall, recordedOutput, type Standing } from "./outcomes.ts";
import { WITH_INPUTS } from "./reading.ts";
import { isFact } from "./recording.ts";
import { createToolMaker, partsAhead, type RequestParts, systemOf } from "./request.ts";

/** Who was asked last, for whoever says where a difference comes from. */
export interface Doing {
  seam: string;
  mechanism: string;
}

/** What the seams need of the agent that is played. */
export interface Played extends Standing {
  heldSince(): number;
  /** Interrupts the turn. */
  abort(): void;
  /** Contract: never resolves; the agent cannot go on from here by itself. */
  stuck<T>(): Promise<T>;
  /** Resolves when more of the recording was folded; undefined: nothing is left before the agent's own next event. */
  further(): Promise<void> | undefined;
  /** What its requests carried last. */
  parts(): RequestParts;
  doing: Doing;
  /** Who said what, by the text of a note. */
  readonly says: Map<string, Doing>;
}

const isOutside = ({ outside }: Mechanism, place: AskedAt): boolean => outside?.at?.includes(place) ?? false;

/** While it is asked, what is recorded is its doing. */
async function asking<T>(played: Played, doing: Doing, ask: () => Promise<T> | T): Promise<T> {
  const before = played.doing;
  played.doing = doing;
  try {
    return await ask();
  } catch (error) {
    // Whoever threw it first ends the turn.
    if (typeof error === "object" && error !== null && !thrown.has(error)) {
      thrown.add(error);
      played.says.set("turn.ended", doing);
    }
    throw error;
  } finally {
    played.doing = before;
  }
}

const thrown = new WeakSet<object>();

/** Each mechanism without what it asks the world, and named while it is asked. */
function computed(mechanism: Mechanism, played: Played): Mechanism {
  const { seams = {}, name } = mechanism;
  const named = (seam: string): Doing => ({ seam, mechanism: name });
  const { input, context, model } = seams;
  return {
    ...mechanism,
    seams: {
      ...(input &&
        !isOutside(mechanism, "input") && { input: (i, turn) => asking(played, named("input"), () => input(i, turn)) }),
      ...(context && {
        context: (items, turn, opts) => asking(played, named("context"), () => context(items, turn, opts)),
      }),
      ...(model &&
        !isOutside(mechanism, "model") && {
          model: (call, next) => asking(played, named("model"), () => model(call, next)),
        }),
    },
  };
}

export function createSeams({ mechanisms, settings }: House, played: Played): Merged {
  const base = mergeSeams(mechanisms.map((one) => computed(one, played)));
  const isHouses = (name: string, turn: Turn): boolean =>
    mechanisms.some((one) => {
      const { tools, outside } = one;
      if (outside?.tools?.includes("*")) return false;
      if (outside?.tools && isNamed(outside.tools, name)) return true;
      return (typeof tools === "function" ? tools(turn) : (tools ?? [])).some((tool) => tool.name === name);
    });
  const parts = () => partsAhead(played, played.parts());
  const maker = createToolMaker(played, { parts, last: () => played.parts() }, isHouses);
  const notes = (place: "intake" | "stop" | "start", turn: Turn, stopping?: Stopping) =>
    notesAt(mechanisms, place, { played, turn, stopping });
  return {
    ...base,
    ...createGate(mechanisms, played),
    input: (input, turn) => taken(base, played, { input, turn }),
    intake: (turn) => notes("intake", turn),
    stop: async (turn, reply, { ask }) => {
      const next = nextOf(played);
      // Who spoke before the turn could end was heard: wait until they have spoken.
      if (next && ["input.taken", "input.blocked", "input.answered", ...WITH_INPUTS].includes(next.type))
        await untilOwn(played);
      return notes("stop", turn, { reply, ask });
    },
    start: (turn) => {
      const next = nextOf(played);
      if (isFact(next, "turn.ended") && next.data.reason === "interrupted") played.abort();
      return notes("start", turn);
    },
    async system(turn) {
      const said = [];
      for (const one of mechanisms) {
        const { system } = one.seams ?? {};
        if (!system) continue;
        said.push({ mechanism: one.name, text: isOutside(one, "system") ? undefined : await system(turn) });
      }
      const { blocks, by } = systemOf(said, parts().blocks);
      if (by !== undefined) played.says.set("request.changed", { seam: "system", mechanism: by });
      return blocks;
    },
    tools(turn) {
      const pool = mechanisms.flatMap((one) => maker.toolsOf(one, turn).map((tool) => ({ tool, by: one })));
      const offers = mechanisms.flatMap(({ offers }) => offers ?? []);
      const offered = pool.filter(({ tool }) => offers.every((offer) => offer(tool, turn)));
      for (const { tool, by } of offered) played.says.set(`tool ${tool.name}`, { seam: "tools", mechanism: by.name });
      nameTools(played, offered, parts());
      return offered.map(({ tool }) => tool);
    },
    settings: () => settings,
    tool: (run) => resultIn(played, run),
    beforeEffect: async () => undefined,
    refused: async () => [],
    announced: async () => ({ context: [] }),
    end: async () => undefined,
    idle: async () => undefined,
    wants: async () => false,
    outstanding: () => [],
    wake: () => played.stuck(),
  };
}

/** Whose tool is the first that differs from what was recorded. */
function nameTools(played: Played, pool: { tool: Tool; by: Mechanism }[], { specs }: RequestParts): void {
  const at = pool.findIndex(
    ({ tool }, i) => tool.name !== specs[i]?.name || tool.description !== specs[i]?.description,
  );
  const by = pool[at]?.by.name;
  if (by !== undefined) played.says.set("request.changed tools", { seam: "tools", mechanism: by });
}

/** The result as it was recorded, whatever would be done. */
async function resultIn(played: Played, run: ToolRun): Promise<ToolOutput> {
  const finished = finishedOf(played, run.call.id);
  if (!finished) return played.stuck();
  const { resumedAt, stopped } = finished.data;
  const isLater = resumedAt !== undefined && resumedAt > played.heldSince();
  if (isLater || isBegunAgain(played, run)) return played.stuck(); // another process took it up
  if (stopped === "during" && finished.data.resumed === undefined) played.abort();
  return recordedOutput(played, finished);
}

/** Its intent was durable, and yet it is put down once more. */
function isBegunAgain(played: Played, { call, tool }: ToolRun): boolean {
  const isDurable = tool.parallel || !["internal", "read"].includes(tool.effect);
  return isDurable && isFact(nextOfCall(played, call.id), "tool.started");
}

/** Those who go by the ledger alone add what they add; then it is as it was recorded. */
async function taken(
  base: Merged,
  played: Played,
  { input, turn }: { input: Parameters<Merged["input"]>[0]; turn: Turn },
): ReturnType<Merged["input"]> {
  const own = await base.input(input, turn);
  if ("answer" in own) return own;
  for (const event of ahead(played)) {
    if (isFact(event, "input.answered")) return own;
    if (isFact(event, "input.blocked")) return { block: event.data.reason };
    if (isFact(event, "input.taken")) {
      const changed = event.data.content;
      return "block" in own ? own : { ...own, content: changed ?? input.content };
    }
    if (isFact(event, "turn.ended") && event.data.reason === "interrupted") played.abort();
    if (!WITH_INPUTS.includes(event.type)) break;
  }
  if ("block" in own) return own;
  return played.stuck();
}

interface Asking {
  played: Played;
  turn: Turn;
  stopping?: Stopping | undefined;
}

/** What seam `stop` is asked with. */
interface Stopping extends Pick<StopOptions, "ask"> {
  reply: Reply;
}

/** Notes of the ledger, computed; those from outside, recorded. What others recorded meanwhile may have been seen or not: as it fits. */
async function notesAt(
  mechanisms: readonly Mechanism[],
  place: "intake" | "stop" | "start",
  { played, turn, stopping }: Asking,
): Promise<Note[]> {
  for (;;) {
    const recorded = recordedNotes(played, place);
    const notes = await gathered(mechanisms, place, { played, turn, stopping, recorded });
    const further = isSame(notes, recorded) ? undefined : played.further();
    if (!further) return notes;
    await further;
  }
}

/** Resolves when all before the agent's own next event is folded. */
async function untilOwn(played: Played): Promise<void> {
  for (let further = played.further(); further; further = played.further()) await further;
}

interface RecordedNote extends Note {
  isTaken?: boolean;
}

const BEFORE_NOTES = new Set([
  "turn.started",
  "input.blocked",
  "input.answered",
  "input.taken",
  ...WITH_INPUTS,
  "request.changed",
]);

function recordedNotes(played: Played, place: "intake" | "stop" | "start"): RecordedNote[] {
  const { recording } = played;
  const notes: RecordedNote[] = [];
  for (const event of ahead(played)) {
    if (isFact(event, "note.added")) {
      const { origin, kind, text } = event.data;
      const events = recording.bornAt(recording.placeOf(event.seq)).map(({ type, data, id }) => ({ type, data, id }));
      notes.push({ origin, text, ...(kind !== undefined && { kind }), events });
    } else if (place !== "intake" || notes.length > 0 || !BEFORE_NOTES.has(event.type)) break;
  }
  return notes;
}

async function gathered(
  mechanisms: readonly Mechanism[],
  place: "intake" | "stop" | "start",
  { played, turn, stopping, recorded }: Asking & { recorded: RecordedNote[] },
): Promise<Note[]> {
  for (const one of recorded) one.isTaken = false;
  const notes: Note[] = [];
  for (const mechanism of mechanisms) {
    const { name, outside } = mechanism;
    const asked = { played, turn, stopping, goesOn: notes.length > 0 };
    const own = isOutside(mechanism, place) ? [] : await ownNotes(mechanism, place, asked);
    const given = recorded.filter((note) => !note.isTaken && isFrom(outside?.notes ?? [], note));
    for (const note of given) note.isTaken = true;
    for (const note of [...own, ...given]) played.says.set(note.text, { seam: place, mechanism: name });
    notes.push(...own, ...given.map(({ isTaken: _, ...note }) => note));
  }
  return notes;
}

const isFrom = (origins: readonly string[], { origin, kind }: Note): boolean =>
  origins.some((one) => one === origin || (kind !== undefined && one === `${origin}/${kind}`));

async function ownNotes(
  { name, seams, start }: Mechanism,
  place: "intake" | "stop" | "start",
  { played, turn, stopping, goesOn }: Asking & Pick<StopOptions, "goesOn">,
): Promise<Note[]> {
  const doing = { seam: place, mechanism: name };
  if (place === "stop") {
    if (!stopping || !seams?.stop) return [];
    const { reply, ask } = stopping;
    return asking(played, doing, () => seams.stop?.(turn, reply, { ask, goesOn }) ?? []);
  }
  const ask = place === "start" ? start : seams?.intake;
  try {
    return ask ? await asking(played, doing, () => ask(turn)) : [];
  } catch (error) {
    turn.emit({ type: "status", text: `${name} failed: ${messageOf(error)}` });
    return [];
  }
}

const isSame = (notes: readonly Note[], recorded: readonly Note[]): boolean =>
  notes.length === recorded.length &&
  notes.every(({ origin, kind, text }, i) => {
    const other = recorded[i];
    return other !== undefined && origin === other.origin && kind === other.kind && text === other.text;
  });
