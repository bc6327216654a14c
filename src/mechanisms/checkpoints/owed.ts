// What the ledger says about files that a checkpoint still owes: whoever goes on keeps them before the next effect.
import type { contextEvents } from "../../contexts/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import type { Seq } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export type CheckpointsState =
  | { files: "kept" }
  /** Nothing was changed since that checkpoint. */
  | { files: "owed"; checkpoint: Seq }
  /** An effect began and they had not been kept: what is there now is not what was there then. */
  | { files: "missed"; checkpoint: Seq };

type Known = typeof contextEvents & typeof loopEvents;

export const checkpointsSlice: MechanismSlice<CheckpointsState> = {
  version: 1,
  types: ["context.checkpointed", "checkpoint.kept", "tool.started", "context.restored"],
  timelines: {
    restored: () => ({ files: "kept" }),
    // A turn that goes on has its prompt behind it: what that still owes is kept before the first effect here.
    copied: (state, _, goesOn) => (goesOn === undefined ? { files: "kept" } : state),
  },
  initial: () => ({ files: "kept" }),
  apply(state, event) {
    const { type, data, seq } = knownFact<Known>(event);
    switch (type) {
      case "context.checkpointed":
        return data.owes === "files" ? { files: "owed", checkpoint: seq } : state;
      case "checkpoint.kept":
        return state.files !== "kept" && state.checkpoint === data.checkpoint ? { files: "kept" } : state;
      case "tool.started":
        return state.files === "owed" && data.effect !== "read" && data.effect !== "internal"
          ? { files: "missed", checkpoint: state.checkpoint }
          : state;
      // Of the files alone too: that moment is gone.
      case "context.restored":
        return { files: "kept" };
      default:
        return state;
    }
  },
};
