// What the model sees of a long conversation: a view with references, changed rarely and deeply. The ledger keeps all.
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { command } from "./command.ts";
import { compactTool } from "./compact.ts";
import type { HookRefusals } from "./epoch.ts";
import { compactionEvents, compactionSlice, stateOf } from "./events.ts";
import { recallTool } from "./recall.ts";
import type { Summaries } from "./summaries.ts";
import { isNear, thresholdOf, tokensNow } from "./threshold.ts";
import { viewThrough } from "./view.ts";

/** A turn that goes on by itself: what is prepared beside a question is gone with its answer. */
const isAtWork = ({ state }: Turn): boolean => (state.turn?.rounds ?? 0) > 0;

export function compaction(): Mechanism {
  let made: Summaries | undefined;
  const refusals: HookRefusals = new WeakMap();
  const summaries = async () => {
    made ??= (await import("./summaries.ts")).createSummaries();
    return made;
  };
  return defineMechanism({
    name: "compaction",
    carry: nothing,
    decides: ["context.compacted", "context.uncompacted", "context.summarised", "compaction.asked"],
    events: compactionEvents,
    fold: compactionSlice,
    tools: (turn) => (stateOf(turn).recalls ? [compactTool, recallTool] : [compactTool]),
    seams: {
      input: (input, turn) => command(input, turn, refusals),
      async context(items, turn, opts) {
        const state = stateOf(turn);
        const [now, begin] = [tokensNow(items, state, opts), thresholdOf(state, turn.model)];
        const cause = opts.overflow
          ? "overflow"
          : state.asked && !state.asked.isDone
            ? "asked"
            : now >= begin
              ? "window"
              : undefined;
        if (cause && !(cause === "window" && refusals.has(turn))) {
          const { beginEpoch } = await import("./epoch.ts");
          await beginEpoch(items, turn, { ...opts, cause, refusals, summaries: await summaries() });
        } else if (!cause && isNear(now, begin) && isAtWork(turn)) (await summaries()).prepare(items, turn, opts);
        return viewThrough(items, stateOf(turn).epochs);
      },
    },
    end: async (turn) => made?.end(turn),
  });
}
