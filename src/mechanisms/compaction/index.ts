// What the model sees of a long conversation: a view with references, changed rarely and deeply. The ledger keeps all.
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import { command } from "./command.ts";
import { compactTool } from "./compact.ts";
import { compactionEvents, compactionSlice, stateOf } from "./events.ts";
import { recallTool } from "./recall.ts";
import type { Summaries } from "./summaries.ts";
import { isNear, thresholdOf, tokensNow } from "./threshold.ts";
import { viewThrough } from "./view.ts";

export function compaction(): Mechanism {
  let made: Summaries | undefined;
  const summaries = async () => {
    made ??= (await import("./summaries.ts")).createSummaries();
    return made;
  };
  return defineMechanism({
    name: "compaction",
    carry: nothing,
    decides: ["context.compacted", "context.summarised"],
    events: compactionEvents,
    fold: compactionSlice,
    tools: (turn) => (stateOf(turn).epochs.length > 0 ? [compactTool, recallTool] : [compactTool]),
    seams: {
      input: command,
      async context(items, turn, opts) {
        const state = stateOf(turn);
        const [now, begin] = [tokensNow(items, state, opts), thresholdOf(state, turn.model.limits)];
        const cause = opts.overflow ? "overflow" : state.asked ? "asked" : now >= begin ? "window" : undefined;
        if (cause) {
          const { beginEpoch } = await import("./epoch.ts");
          await beginEpoch(items, turn, { ...opts, cause, summaries: await summaries() });
        } else if (isNear(now, begin)) (await summaries()).prepare(items, turn, opts);
        return viewThrough(items, stateOf(turn).epochs);
      },
    },
    end: async (turn) => made?.end(turn),
  });
}
