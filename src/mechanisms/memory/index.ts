// What a project remembers, beside a person's input where it is new to the agent or has to do with it; never in the system prompt.
import { messageOf } from "../../ledger/error.ts";
import { own } from "../../ledger/own.ts";
import { type Carrying, saidAs, saidMark } from "../../loop/carry.ts";
import { noteInside, noteText } from "../../loop/marks.ts";
import { defineMechanism, type Input, type Mechanism, saying, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { fittingTexts } from "../../text/fitting.ts";
import { byWords } from "../../text/word-search.ts";
import type { Memories, Memory } from "./memories.ts";
import { createForgetTool, createRememberTool } from "./remember.ts";
import { GONE, type MemorySlice, memorySlice, shownEvents } from "./shown.ts";

export interface MemoryOptions {
  /** Opened when something first needs it. */
  open: () => Promise<Memories>;
  /** Where memory stands as files for people; none without it. */
  dir?: string;
}

/** One that is longer is shown by its description, and whole where it has to do with the input. */
const SHORT = 300;
const MOST_LINES = 60;
const MOST_WHOLE = 5;

export function createMemory(opts: MemoryOptions | undefined): Mechanism {
  /** What is remembered is in the ledger: files that cannot be written take nothing away from it. */
  const changed = async (turn: Turn, memories: Memories): Promise<void> => {
    if (opts?.dir === undefined) return;
    const { followMemory } = await import("./files.ts");
    await followMemory(opts.dir, memories).catch((error: unknown) => {
      turn.emit({ type: "status", text: `memory is kept, but not its files: ${messageOf(error)}` });
    });
  };
  let isCompared = false;

  async function attached(input: Input, turn: Turn, memories: Memories): Promise<Input> {
    if (!isCompared) await changed(turn, memories); // a process that was killed may have left them behind
    isCompared = true;
    const all = await memories.list();
    const { text, shown } = newsFor(all, turn, textOf(input.content));
    if (text === undefined) return input;
    const note = noteText("memory", text);
    const fact = { type: "memory.shown", data: { memories: shown, mark: saidMark(note) } };
    return saying(input, note, fact);
  }

  return defineMechanism({
    name: "memory",
    carry: carryMemories,
    settings: () => ({ remembers: opts !== undefined }),
    outside: { at: ["input"] },
    events: shownEvents,
    fold: memorySlice,
    tools: opts ? [createRememberTool(opts.open, changed), createForgetTool(opts.open, changed)] : [],
    seams: { input: async (input, turn) => (opts ? attached(input, turn, await opts.open()) : input) },
  });
}

/** Of the window. */
const SHARE = 0.04;

/** What it was told, in the words of then, the last first: it is not told twice. */
function carryMemories(turn: Turn, { room, shows }: Carrying): string {
  const marks = (own(turn.slice<MemorySlice>("memory"), turn.agent)?.notes ?? []).map(({ mark }) => mark);
  const said = saidAs(turn.state.items, marks);
  const notes = [...said.values()]
    .filter(({ ref }) => !shows(ref))
    .toReversed()
    .map(({ ref, text }) => ({ whole: noteInside(text), short: `More is remembered: recall ${ref}` }));
  return fittingTexts(notes, room(SHARE), (count) => `More is remembered in ${count} older notes: recall`).join("\n\n");
}

/** Lines for what the agent was not shown as it is now, the newest kept where there are many; texts for what has to do with the input. */
function newsFor(
  all: readonly Memory[],
  turn: Turn,
  words: string,
): { text?: string; shown: { name: string; at: number }[] } {
  const seen = own(turn.slice<MemorySlice>("memory"), turn.agent)?.shown ?? {};
  const isNew = ({ name, at }: Memory) => own(seen, name)?.at !== at;
  const fresh = all.filter(isNew);
  const gone = Object.entries(seen).flatMap(([name, { at }]) =>
    at === GONE || all.some((one) => one.name === name) ? [] : [name],
  );
  const long = byWords(
    all.filter(({ text }) => text.length > SHORT),
    words,
  )
    .slice(0, MOST_WHOLE)
    .filter(isNew);
  const lines = fresh
    .slice(-MOST_LINES)
    .map((one) => `- ${one.name}: ${one.text.length > SHORT ? one.description : one.text.replaceAll(/\s+/g, " ")}`);
  const left = fresh.length - lines.length;
  const parts = [
    ...(lines.length > 0 ? [`Remembered of this project and its user:\n${lines.join("\n")}`] : []),
    ...(left > 0 ? [`${left} older ones are not shown.`] : []),
    ...long.map(({ name, text }) => `${name}, whole:\n${text}`),
    ...(gone.length > 0 ? [`No longer true, forgotten: ${gone.join(", ")}`] : []),
  ];
  if (parts.length === 0) return { shown: [] };
  return {
    text: parts.join("\n\n"),
    shown: [...fresh.map(({ name, at }) => ({ name, at })), ...gone.map((name) => ({ name, at: GONE }))],
  };
}
