// Which agents are in a worktree for the sake of a task, and brings them back when it is no longer theirs.

import { lstatSync } from "node:fs";
import { isHoldfastError } from "../../ledger/error.ts";
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { Note, Turn } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { contextRoot } from "../../loop/transcript.ts";
import { type OpenTaskBoard, ownerOf, type Task, type UnknownOutcome } from "./port.ts";
import { entering, leaving, type TaskFacts, type TasksState, workplaceOf } from "./task-tree.ts";

export const placeEvents = {
  "task.entered": { v: 1, schema: () => z.object({ task: z.string(), path: z.string() }) },
  "task.left": { v: 1, schema: () => z.object({}) },
  /** The board says whose a task is; this, that the agent was told that it is its own, and that it is no longer. */
  "task.held": { v: 1, schema: () => z.object({ task: z.string(), subject: z.string() }) },
  "task.dropped": { v: 1, schema: () => z.object({ task: z.string() }) },
} satisfies EventDefs;

export const placesSlice: MechanismSlice<TasksState> = {
  version: 3,
  types: [...Object.keys(placeEvents), "tool.finished", "job.ended"],
  timelines: {
    restored: (state) => state, // whose the task is, the board says: who is in the wrong place is brought back
    copied: ({ places }) => ({ places, held: {}, unknown: {} }), // the board knows the agents of the original
  },
  initial: () => ({ places: {}, held: {}, unknown: {} }),
  apply(state, event) {
    const unknown = unknownIn(event);
    if (unknown)
      for (const task of Object.keys(own(state.held, event.actor) ?? {})) mark(state, event.actor, { task, unknown });
    const { type, actor, data } = knownFact<typeof placeEvents>(event);
    if (type === "task.entered") state.places[actor] = data;
    else if (type === "task.left") delete state.places[actor];
    else if (type === "task.held") ownOr(state.held, actor, () => ({}))[data.task] = data.subject;
    else if (type === "task.dropped") {
      delete own(state.held, actor)?.[data.task];
      delete own(state.unknown, actor)?.[data.task];
    }
    return state;
  },
};

function mark(state: TasksState, agent: string, { task, unknown }: { task: string; unknown: UnknownOutcome }): void {
  const ofAgent = ownOr(state.unknown, agent, () => ({}));
  ownOr(ofAgent, task, (): UnknownOutcome[] => []).push(unknown);
}

/** A call, or a job in the background, of which nobody knows what came: it was lost with its machine, or ended with its lease. */
function unknownIn(event: StoredEvent): UnknownOutcome | undefined {
  if (event.type === "tool.finished") {
    const { callId, name, resumed, ran } = knownFact<Pick<typeof loopEvents, "tool.finished">>(event).data;
    const isUnknown = resumed === "unknown" || ran?.status === "unknown" || ran?.lostLease;
    return isUnknown ? { call: callId, tool: name } : undefined;
  }
  const { data } = event;
  if (event.type !== "job.ended" || !isRecord(data)) return undefined;
  const isUnknown = data.status === "unknown" || data.lostLease === true;
  return isUnknown ? { call: String(data.jobId), tool: "bash" } : undefined;
}

/** Looked at only for agents in a worktree, in an open turn: nobody is woken to be moved. */
export async function backInPlace(turn: Turn, board: OpenTaskBoard): Promise<Note[]> {
  const here = workplaceOf(turn);
  if (!here || !turn.state.turn) return [];
  const task = await found(board, here.task);
  const mine = task?.status === "in_progress" && task.owner === ownerOf(turn) ? task : undefined;
  const isThere = lstatSync(here.path, { throwIfNoEntry: false }) !== undefined;
  const why = mine ? lost(mine, isThere) : `${here.task} is no longer yours (${ending(task)})`;
  if (!mine || why !== undefined) {
    const root = contextRoot(turn);
    const left = isThere ? `; what you left there is still in ${here.path}` : "";
    const dropped: TaskFacts = mine ? [] : [{ type: "task.dropped", data: { task: here.task } }];
    const events = [...dropped, ...leaving(root)];
    return [{ origin: "tasks", text: `${why}: you are back in ${root}${left}`, events }];
  }
  if (turn.root === here.path) return [];
  const text = `${here.task} is still yours: you work in its worktree ${here.path}`; // a restore took the agent out of it
  return [{ origin: "tasks", text, events: entering(mine, here.path) }];
}

async function found(board: OpenTaskBoard, id: string): Promise<Task | undefined> {
  try {
    return await (await board()).get(id);
  } catch (error) {
    if (isHoldfastError(error, "not_found")) return undefined;
    throw error;
  }
}

function lost({ id, worktree }: Task, isThere: boolean): string | undefined {
  if (worktree === null) return `${id} has no worktree any more`;
  return isThere
    ? undefined
    : `the worktree ${worktree} of ${id} is not there (create_worktree with task_id ${id} makes it anew)`;
}

function ending(task: Task | undefined): string {
  const last = task?.history.at(-1);
  return last ? `${last.by} ${last.what}${last.note ? `: ${last.note}` : ""}` : "it was deleted";
}
