// Owns what the model sees when a conversation no longer fits: old tool results become one line. The ledger keeps all.
import * as z from "zod";
import type { EventDefs } from "../../ledger/events.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { type MechanismSlice, unchanged } from "../../loop/timelines.ts";
import type { Content, Item } from "../../models/model.ts";

const MAX_TRIES = 2;
/** Below this a result is hardly longer than the line that would stand for it. */
const WORTH_ELIDING = 200;

export const compactionEvents = {
  "context.elided": {
    v: 2,
    schema: () =>
      z.object({
        /** The results of these calls are shown as one line from here on. */
        calls: z.array(z.string()),
        results: z.number(),
        bytes: z.number(),
      }),
    /** Version 1 named a position among the items, which meant others after a restore: those results are shown again, and left out anew when they must. */
    upcast: (data: unknown) => ({ calls: [], ...(data as { results: number; bytes: number }) }),
  },
} satisfies EventDefs;

interface Elided {
  /** By id: an id is never given twice, so that a mask can only mean what the model has seen. */
  calls: Record<string, true>;
  /** In this turn. */
  tries: number;
}

type CompactionState = Record<string, Elided>;

const compactionSlice: MechanismSlice<CompactionState> = {
  version: 2,
  types: ["turn.started", "context.elided"],
  timelines: unchanged,
  initial: () => ({}),
  apply(state, event) {
    const mine = state[event.actor];
    if (event.type === "turn.started" && mine) mine.tries = 0;
    if (event.type === "context.elided") {
      const { calls } = event.data as { calls: string[] };
      const masked = { ...mine?.calls };
      for (const id of calls) masked[id] = true;
      state[event.actor] = { calls: masked, tries: (mine?.tries ?? 0) + 1 };
    }
    return state;
  },
};

export function compaction(): Mechanism {
  return defineMechanism({
    name: "compaction",
    events: compactionEvents,
    fold: compactionSlice,
    seams: {
      async context(items, turn, { overflow }) {
        if (overflow) await elideMore(items, turn);
        const { calls } = stateOf(turn);
        if (calls === NOTHING_ELIDED.calls) return items;
        return items.map((item) => (item.kind === "result" && calls[item.callId] ? lineFor(item) : item));
      },
    },
  });
}

const NOTHING_ELIDED: Elided = { calls: {}, tries: 0 };

const stateOf = (turn: Turn): Elided => turn.slice<CompactionState>("compaction")[turn.agent] ?? NOTHING_ELIDED;

/** Decides, and records, that all results before the last reply are elided: those after it the model has not seen yet. */
async function elideMore(items: readonly Item[], turn: Turn): Promise<void> {
  const { calls, tries } = stateOf(turn);
  if (tries >= MAX_TRIES) return;
  const lastReply = items.findLastIndex((item) => item.kind === "reply");
  const seen = items.slice(0, Math.max(0, lastReply));
  const elided = seen.flatMap((item) => (isWorth(item) && !calls[item.callId] ? [item] : []));
  if (elided.length === 0) return;
  const bytes = elided.reduce((sum, item) => sum + sizeOf(item.content), 0);
  const data = { calls: elided.map((item) => item.callId), results: elided.length, bytes };
  await turn.append([{ type: "context.elided", data }]);
  turn.emit({
    type: "status",
    text: `the conversation no longer fits: ${elided.length} old tool results were left out`,
    recorded: true,
  });
}

type Result = Extract<Item, { kind: "result" }>;

const isWorth = (item: Item): item is Result => item.kind === "result" && sizeOf(item.content) > WORTH_ELIDING;

/** Items never change, and adapters remember them by identity: the line that stands for one is made once. */
const lines = new WeakMap<Result, Result>();

function lineFor(result: Result): Result {
  let line = lines.get(result);
  if (!line) {
    const text = `[result elided: ${result.name}, ${readable(sizeOf(result.content))}; call it again if it is needed]`;
    line = { ...result, content: [{ type: "text", text }] };
    lines.set(result, line);
  }
  return line;
}

const sizeOf = (content: readonly Content[]): number =>
  content.reduce((sum, c) => sum + (c.type === "text" ? c.text.length : c.data.length), 0);

const readable = (size: number) => (size < 1000 ? `${size} B` : `${Math.round(size / 1000)} kB`);
