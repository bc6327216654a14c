// The state of the board: what its events say. Tasks are replaced, never changed in place, so that they may be handed out.
import type { Fact } from "../../ledger/events.ts";
import type { Slice, State } from "../../ledger/fold.ts";
import { knownFact } from "../../ledger/guards.ts";
import { boardEvents } from "./events.ts";
import { type By, ownerOf, type Task, type TaskHistory } from "./port.ts";
import { unknownText } from "./task-text.ts";

export type BoardFact = Fact<typeof boardEvents>;

/** Of one task, in memory; the ledger has all. */
const HISTORY = 50;

export interface BoardState {
  lastId: number;
  tasks: Map<string, Task>;
  /** Who waits for it, directly. */
  dependants: Map<string, Set<string>>;
  running: Map<string, Set<string>>;
}

const initialState = (): BoardState => ({
  lastId: 0,
  tasks: new Map(),
  dependants: new Map(),
  running: new Map(),
});

/** One call of an agent is done once. */
export const callKey = (by: By): string | undefined =>
  by.call === undefined ? undefined : `${ownerOf(by)}/${by.call}`;

export const boardIn = (state: State): BoardState => state.slices.board as BoardState;

/** It reads every event of its ledger: one that it does not know is a newer Holdfast's. */
export const boardSlice: Slice<BoardState> = {
  version: 3,
  initial: initialState,
  apply(state, event) {
    if (event.type in boardEvents) applyEvent(state, knownFact<typeof boardEvents>(event));
    return state;
  },
  freeze: ({ lastId, tasks }) => ({ lastId, tasks: [...tasks.values()] }),
  thaw(frozen) {
    const { lastId, tasks } = frozen as { lastId: number; tasks: Task[] };
    const state = { ...initialState(), lastId };
    for (const task of tasks) put(state, task);
    return state;
  },
};

function applyEvent(state: BoardState, fact: BoardFact): void {
  const { data } = fact;
  const by = ownerOf(data.by);
  const task = state.tasks.get(data.id);
  if (fact.type === "task.created") put(state, created(state, fact, by));
  else if (task && fact.type === "task.deleted") remove(state, task, fact.data.detached);
  else if (task) {
    const { what, changes } = outcomeOf(fact, task);
    const entry = { at: fact.at, by, what, ...(data.note !== undefined && { note: data.note }) };
    const { unhostedAt: _, ...rest } = task;
    const next = { ...rest, ...changes, updatedAt: fact.at, history: [...task.history, entry].slice(-HISTORY) };
    put(state, next, task);
  }
}

function outcomeOf({ type, at, data }: BoardFact, task: Task): { what: string; changes: Partial<Task> } {
  switch (type) {
    case "task.changed": {
      const { set, added, removed } = data;
      const blockedBy = [...task.blockedBy.filter((id) => !removed.includes(id)), ...added];
      return { what: changeWords({ set, added, removed }), changes: { ...set, ...keepUnhosted(task), blockedBy } };
    }
    case "task.assigned":
      return { what: data.owner ? `kept for ${data.owner}` : "kept for nobody", changes: { owner: data.owner } };
    case "task.claimed":
      return { what: "claimed", changes: { status: "in_progress", owner: data.owner } };
    case "task.released":
      return { what: "released", changes: { status: "pending", owner: null } };
    case "task.completed":
      return {
        what: data.unknown ? `completed after ${unknownText(data.unknown)}` : "completed",
        changes: { status: "completed", ...(data.unknown && { unknown: data.unknown }) },
      };
    case "task.cancelled":
      return { what: "cancelled", changes: { status: "cancelled" } };
    case "task.unhosted":
      return { what: "owner has no host", changes: { unhostedAt: at } };
    default:
      return { what: "owner has a host again", changes: {} };
  }
}

const keepUnhosted = (task: Task) => (task.unhostedAt === undefined ? {} : { unhostedAt: task.unhostedAt });

function created(state: BoardState, event: Extract<BoardFact, { type: "task.created" }>, by: string): Task {
  const { id, subject, description, blockedBy, priority, labels, imported, note } = event.data;
  const number = /^task_(\d+)$/.exec(id)?.[1];
  if (number) state.lastId = Math.max(state.lastId, Number(number));
  const entry: TaskHistory = { at: event.at, by, what: imported ? "imported" : "created", ...(note && { note }) };
  return {
    ...{ id, subject, description, blockedBy, priority, labels },
    owner: null,
    status: imported?.status ?? "pending",
    worktree: imported?.worktree ?? null,
    history: [...(imported?.history ?? []), entry].slice(-HISTORY),
    createdAt: imported?.createdAt ?? event.at,
    updatedAt: event.at,
  };
}

function changeWords({ set, added, removed }: { set: object; added: string[]; removed: string[] }): string {
  const words = [
    ...Object.keys(set),
    ...(added.length > 0 ? [`now after ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`no longer after ${removed.join(", ")}`] : []),
  ];
  return words.length > 0 ? `changed: ${words.join("; ")}` : "noted";
}

function put(state: BoardState, task: Task, before?: Task): void {
  state.tasks.set(task.id, task);
  if (task.blockedBy !== before?.blockedBy) {
    for (const id of before?.blockedBy ?? []) state.dependants.get(id)?.delete(task.id);
    for (const id of task.blockedBy) entry(state.dependants, id).add(task.id);
  }
  if (before?.status === "in_progress" && before.owner) dismiss(state, before.owner, task.id);
  if (task.status === "in_progress" && task.owner) entry(state.running, task.owner).add(task.id);
}

function remove(state: BoardState, task: Task, detached: string[]): void {
  state.tasks.delete(task.id);
  for (const id of task.blockedBy) state.dependants.get(id)?.delete(task.id);
  for (const id of detached) {
    const other = state.tasks.get(id);
    if (other) state.tasks.set(id, { ...other, blockedBy: other.blockedBy.filter((one) => one !== task.id) });
  }
  state.dependants.delete(task.id);
  if (task.owner) dismiss(state, task.owner, task.id);
}

function dismiss(state: BoardState, owner: string, id: string): void {
  const tasks = state.running.get(owner);
  tasks?.delete(id);
  if (tasks?.size === 0) state.running.delete(owner);
}

function entry(map: Map<string, Set<string>>, key: string): Set<string> {
  const found = map.get(key) ?? new Set();
  map.set(key, found);
  return found;
}
