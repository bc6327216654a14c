// A context as it was when one of its events had just happened, put together from what was folded and gathered up to there.
import type { Checkpoint } from "../../contexts/checkpoints.ts";
import { type FoldState, presentAt } from "../../contexts/fold.ts";
import type { ForkPlace } from "../../contexts/fork-place.ts";
import { LEAD_AGENT } from "../../contexts/listing.ts";
import { visibleRanges } from "../../contexts/visible-ranges.ts";
import type { State } from "../../ledger/fold.ts";
import type { Seq } from "../../ledger/store.ts";
import { transcriptIn } from "../../loop/transcript.ts";
import type { ApprovalsState } from "../../mechanisms/approvals/events.ts";
import { listedRequests } from "../../mechanisms/approvals/index.ts";
import { pendingPlans, type TeamState } from "../../mechanisms/team/state.ts";
import type { TodoState } from "../../mechanisms/todo/index.ts";
import type { BoardTask } from "../monitor/api.ts";
import type { ContextAt, DataRow } from "../monitor/context-api.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import { callTitle } from "../presentation/titles.ts";
import { agentRow } from "./agent-row.ts";
import type { EditGatherer } from "./edits.ts";

const MOST_AGENTS = 200;
const MOST_TODOS = 500;
const MOST_WAITING = 200;
const MOST_KEYS = 1_000;

export interface Then {
  seq: Seq;
  at: number;
  head: Seq;
  /** Folded up to the event. */
  state: State;
  /** Folded up to now: it knows what was there at any position. */
  context: FoldState;
  edits: EditGatherer;
  board: BoardTask[];
  fork: ForkPlace;
}

export function contextAt(then: Then): ContextAt {
  const { seq, at, head, state, context, board, fork } = then;
  const team = state.slices.team as TeamState | undefined;
  const agents = Object.values(transcriptIn(state).agents);
  const restore = lastCheckpoint(context, seq);
  return {
    ...{ seq, at, head, board },
    agents: agents.slice(-MOST_AGENTS).map((agent) => agentRow(agent, team, { isInterrupted: false })),
    todos: todosIn(state.slices.todo as TodoState | undefined),
    waiting: [...asked(state.slices.approvals as ApprovalsState | undefined), ...plans(team)].slice(0, MOST_WAITING),
    data: dataAt(context, { seq, at }),
    files: filesAt(context, then),
    fork: {
      seq: fork.seq,
      ...(fork.round !== undefined && { request: { agent: LEAD_AGENT, n: fork.round } }),
    },
    ...(restore && {
      restore: { seq: restore.seq, name: oneLine(restore.name, 200), files: restore.files !== undefined },
    }),
  };
}

function todosIn(state: TodoState | undefined): ContextAt["todos"] {
  return Object.entries(state?.lists ?? {})
    .flatMap(([agent, { todos }]) =>
      todos.map(({ content, status }) => ({ agent: oneLine(agent, 60), text: oneLine(content, 300), status })),
    )
    .slice(0, MOST_TODOS);
}

const asked = (state: ApprovalsState | undefined): string[] =>
  (state ? listedRequests(state) : [])
    .filter(({ movedTo }) => movedTo === undefined)
    .map(({ agent, tool, input, requestId }) =>
      oneLine(`${agent} asks: ${tool} ${callTitle(tool, input)} (${requestId})`, 300),
    );

const plans = (team: TeamState | undefined): string[] =>
  (team ? pendingPlans(team) : []).map(({ requestId, by, plan }) =>
    oneLine(`plan of ${by} (${requestId}): ${plan}`, 300),
  );

function dataAt(state: FoldState, { seq, at }: { seq: Seq; at: number }): DataRow[] {
  return [...state.keys.keys()]
    .sort()
    .flatMap((key): DataRow[] => {
      const entry = presentAt(state, key, { position: seq, now: at });
      if (!entry) return [];
      const { seq: version, author, at: since, bytes, preview } = entry;
      return [
        {
          ...{ key: printable(key), version, by: oneLine(author, 60), at: since, bytes },
          preview: oneLine(preview, 300),
        },
      ];
    })
    .slice(0, MOST_KEYS);
}

/** The last on the timeline of then: what Restore goes back to. */
function lastCheckpoint({ checkpoints, restores }: FoldState, seq: Seq): Checkpoint | undefined {
  const ranges = visibleRanges(
    restores.filter(({ conversation }) => conversation),
    seq,
  );
  return checkpoints.findLast((one) => ranges.some(([from, to]) => from <= one.seq && one.seq <= to));
}

/** What the files were last known to be: those of the last checkpoint that holds some, or of the one that a restore of files went back to since. */
function lastKnownFiles(
  { checkpoints, restores }: FoldState,
  seq: Seq,
): { checkpoint: Checkpoint; since: Seq } | undefined {
  const kept = checkpoints.findLast((one) => one.seq <= seq && one.files);
  const back = restores.findLast((one) => one.seq <= seq && one.files);
  if (!back || back.seq < (kept?.seq ?? 0)) return kept && { checkpoint: kept, since: kept.seq };
  const target = checkpoints.find((one) => one.seq === back.to);
  return target && { checkpoint: target, since: back.seq };
}

function filesAt(state: FoldState, { seq, edits }: Pick<Then, "seq" | "edits">): ContextAt["files"] {
  const known = lastKnownFiles(state, seq);
  const recorded = edits.between({ after: known?.since ?? 0, upTo: seq });
  if (!known) return { edits: recorded };
  const { seq: position, at, name } = known.checkpoint;
  return { checkpoint: { seq: position, at, name: oneLine(name, 200) }, edits: recorded };
}
