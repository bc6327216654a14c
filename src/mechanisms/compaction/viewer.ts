// How a reader of the ledger gets at what the model saw: the view of the epochs that hold, and nothing decided anew.
import type { Viewer } from "../../loop/recorded-request.ts";
import { acrossTimelines } from "../../loop/timelines.ts";
import { type CompactionState, compactionSlice, ofAgent } from "./events.ts";
import { viewThrough } from "./view.ts";

export const compactionViewer: Viewer<CompactionState> = {
  name: "compaction",
  slice: acrossTimelines(compactionSlice),
  view: (items, state, agent) => viewThrough(items, ofAgent(state, agent).epochs),
};
