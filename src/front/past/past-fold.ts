// What of a context's state is looked at in the past: agents without what was said, todos, questions, teams. Folded by the slices that the house itself folds with.
import { createFold, type Fold, type Slice } from "../../ledger/fold.ts";
import { isRecord } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { Mechanism } from "../../loop/seams.ts";
import { acrossTimelines } from "../../loop/timelines.ts";
import { type AgentState, type ContextState, transcript } from "../../loop/transcript.ts";

const SLICES = ["todo", "approvals", "team"];

/** Contract: of every mechanism of the house those that it needs. */
export function pastFold(mechanisms: readonly Mechanism[]): Fold {
  const slices = mechanisms.flatMap(({ name, fold }) =>
    fold && SLICES.includes(name) ? [[name, acrossTimelines(fold)] as const] : [],
  );
  return createFold({ transcript: withoutItems, ...Object.fromEntries(slices) });
}

/** The transcript is as long as the ledger; who is in a turn, with which calls, at what cost, is not. */
const withoutItems: Slice<ContextState> = {
  ...transcript,
  apply(before, event) {
    const { marks: _, ...state } = transcript.apply(before, event);
    for (const agent of touched(state, event)) {
      agent.items = [];
      agent.denials = [];
      agent.queue = agent.queue.map((one) => ({ ...one, content: [] }));
    }
    return state;
  },
};

function touched({ agents }: ContextState, { type, actor, data }: StoredEvent): AgentState[] {
  if (type.startsWith("context.")) return Object.values(agents);
  const name = isRecord(data) && typeof data.agent === "string" ? data.agent : actor;
  const found = own(agents, name);
  return found ? [found] : [];
}
