// Owns what the model sees when a conversation no longer fits: old tool results become one line. The ledger keeps all.
import * as z from "zod";
import type { EventDefs } from "../../ledger/events.ts";
import type { Slice } from "../../ledger/fold.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import type { Content, Item } from "../../models/model.ts";

const MAX_TRIES = 2;
/** Below this a result is hardly longer than the line that would stand for it. */
const WORTH_ELIDING = 200;

export const compactionEvents = {
  "context.elided": {
    v: 1,
    schema: () =>
      z.object({
        /** Results among the first so many items are shown as one line from here on. */
        upTo: z.number(),
        results: z.number(),
        bytes: z.number(),
      }),
  },
} satisfies EventDefs;

interface Elided {
  upTo: number;
  /** In this turn. */
  tries: number;
}

type CompactionState = Record<string, Elided>;

const fold: Slice<CompactionState> = {
  version: 1,
  initial: () => ({}),
  apply(state, event) {
    const mine = state[event.actor];
    if (event.type === "turn.started" && mine) mine.tries = 0;
    if (event.type === "context.elided") {
      const { upTo } = event.data as { upTo: number };
      state[event.actor] = { upTo, tries: (mine?.tries ?? 0) + 1 };
    }
    return state;
  },
};

export function compaction(): Mechanism {
  return defineMechanism({
    name: "compaction",
    events: compactionEvents,
    fold,
    seams: {
      async context(items, turn, { overflow }) {
        if (overflow) await elideMore(items, turn);
        const upTo = stateOf(turn).upTo;
        return upTo === 0 ? items : viewOf(items, upTo);
      },
    },
  });
}

const stateOf = (turn: Turn): Elided => turn.slice<CompactionState>("compaction")[turn.agent] ?? { upTo: 0, tries: 0 };

/** Decides, and records, that all results before the last reply are elided: those after it the model has not seen yet. */
async function elideMore(items: readonly Item[], turn: Turn): Promise<void> {
  const { upTo, tries } = stateOf(turn);
  const lastReply = items.findLastIndex((item) => item.kind === "reply");
  if (tries >= MAX_TRIES || lastReply <= upTo) return;
  const sizes = items.slice(upTo, lastReply).flatMap((item) => (isWorth(item) ? [sizeOf(item.content)] : []));
  if (sizes.length === 0) return;
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await turn.append([{ type: "context.elided", data: { upTo: lastReply, results: sizes.length, bytes } }]);
  turn.emit({
    type: "status",
    text: `the conversation no longer fits: ${sizes.length} old tool results were left out`,
  });
}

function viewOf(items: readonly Item[], upTo: number): readonly Item[] {
  return items.map((item, i) => (i < upTo && isWorth(item) ? lineFor(item) : item));
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
