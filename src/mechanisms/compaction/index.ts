// What the model sees when a conversation no longer fits: old tool results become one line. The ledger keeps all.
import { HoldfastError } from "../../ledger/error.ts";
import { own } from "../../ledger/own.ts";
import { defineMechanism, type Mechanism, type Turn, type ViewOptions } from "../../loop/seams.ts";
import type { Item } from "../../models/model.ts";
import { fireHook } from "../hooks/port.ts";
import { type CompactionState, compactionEvents, compactionSlice, type Masks } from "./events.ts";
import { lineFor, lineSize, withLine } from "./line.ts";

export function compaction(): Mechanism {
  return defineMechanism({
    name: "compaction",
    events: compactionEvents,
    fold: compactionSlice,
    seams: {
      async context(items, turn, opts) {
        if (opts.overflow) await maskMore(items, turn, opts);
        const masks = masksOf(turn);
        if (masks === NONE) return items;
        return items.map((item) => {
          if (item.kind !== "result") return item;
          const mask = own(masks, item.callId);
          return mask === undefined ? item : withLine(item, mask);
        });
      },
    },
  });
}

const NONE: Masks = {};

const masksOf = (turn: Turn): Masks => own(turn.slice<CompactionState>("compaction"), turn.agent) ?? NONE;

/**
 * Decides, and records, that all results before the last reply are masked: those after it the model has not seen yet. Those that hold for
 * all that follows go only when nothing else is left. Each time at least one more, and each shorter than before: so it may be asked for
 * as often as a conversation overflows.
 */
async function maskMore(items: readonly Item[], turn: Turn, { tools, keeps = [] }: ViewOptions): Promise<void> {
  const readable = tools.some(({ name }) => name === "read_file");
  const open = maskable(items, masksOf(turn), readable);
  const first = open.filter(({ name }) => !keeps.includes(name));
  const chosen = first.length > 0 ? first : open;
  const masks = chosen.map(({ call, line }) => ({ call, line }));
  const bytes = chosen.reduce((sum, { size }) => sum + size, 0);
  if (masks.length === 0) return;
  const { blocked } = await fireHook(turn, "PreCompact", { trigger: "auto", custom_instructions: null });
  if (blocked !== undefined)
    throw new HoldfastError(
      "refused",
      `the conversation no longer fits, and a PreCompact hook keeps it as it is: ${blocked}`,
    );
  await turn.append([{ type: "context.elided", data: { masks, bytes } }]);
  const what = masks.length === 1 ? "one old tool result was" : `${masks.length} old tool results were`;
  turn.emit({ type: "status", text: `the conversation no longer fits: ${what} left out`, recorded: true });
  await fireHook(turn, "PostCompact", { trigger: "auto", compact_summary: `${what} left out` });
}

/** Results that the model has seen, and what would stand for each; not those that are hardly longer, and better to read. */
function maskable(items: readonly Item[], masked: Masks, readable: boolean) {
  const lastReply = items.findLastIndex((item) => item.kind === "reply");
  return items.slice(0, Math.max(0, lastReply)).flatMap((item) => {
    if (item.kind !== "result" || own(masked, item.callId) !== undefined) return [];
    const line = lineFor(item, { readable });
    const size = lineSize(item.content);
    return size < 2 * line.length ? [] : [{ call: item.callId, name: item.name, line, size }];
  });
}
