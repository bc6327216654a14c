// Where one works on a task: the way into its worktree when it is claimed, and back when it is no longer one's own.

import { refused } from "../../file-access/refused.ts";
import { own } from "../../ledger/own.ts";
import type { Turn } from "../../loop/seams.ts";
import { contextRoot } from "../../loop/transcript.ts";
import { ownerOf, type Task, type TaskBoard, taskId, type UnknownOutcome } from "./port.ts";

/** The directory of a worktree. Contract: throws `refused` when it is not there. */
export type PlaceOf = (worktree: string) => Promise<string>;
export type TaskFacts = (
  | { type: "agent.moved"; data: { cwd: string; root: string | null } }
  | { type: "task.entered"; data: Workplaces[string] }
  | { type: "task.left"; data: Record<string, never> }
  | { type: "task.held"; data: { task: string; subject: string } }
  | { type: "task.dropped"; data: { task: string } }
)[];

export const TASKS_SLICE = "tasks";

/** Which agents are in a worktree because of a task. */
export type Workplaces = Record<string, { task: string; path: string }>;

/** What agents of this context know of tasks of theirs. */
export interface TasksState {
  places: Workplaces;
  /** By agent, then by task: what it is about, as it was when the agent took it. */
  held: Record<string, Record<string, string>>;
  /** By agent, then by task that it held then: calls whose outcome nobody knows. */
  unknown: Record<string, Record<string, UnknownOutcome[]>>;
}

type OfAgent = Pick<Turn, "agent" | "slice">;

const stateOf = ({ slice }: OfAgent): TasksState | undefined => slice<TasksState | undefined>(TASKS_SLICE);

export const workplaceOf = (turn: OfAgent): Workplaces[string] | undefined =>
  own(stateOf(turn)?.places ?? {}, turn.agent);

export const tasksHeld = (turn: OfAgent): Readonly<Record<string, string>> =>
  own(stateOf(turn)?.held ?? {}, turn.agent) ?? {};

export const unknownFor = (turn: OfAgent, given: string): UnknownOutcome[] =>
  own(own(stateOf(turn)?.unknown ?? {}, turn.agent) ?? {}, taskId(given)) ?? [];

export const entering = (task: Pick<Task, "id">, path: string): TaskFacts => [
  { type: "agent.moved", data: { cwd: path, root: path } },
  { type: "task.entered", data: { task: task.id, path } },
];

export const leaving = (root: string): TaskFacts => [
  { type: "agent.moved", data: { cwd: root, root: null } },
  { type: "task.left", data: {} },
];

/** Asked before a claim: what cannot be isolated as it should is not begun. Contract: throws `refused`; undefined where no worktree is wanted. */
export async function pathFor({ id, worktree }: Task, placeOf: PlaceOf | undefined): Promise<string | undefined> {
  if (worktree === null) return undefined;
  if (!placeOf) throw refused(`${id} is to be done in the worktree ${worktree}, and there are no worktrees here`);
  return placeOf(worktree);
}

type Actor = Pick<Turn, "context" | "agent" | "root" | "slice">;

/**
 * What follows for this agent from the task as it is now. Contract: nothing when that is known and it stays where it is; throws `refused`
 * when the worktree went between the look and the claim.
 */
export async function movesFor(task: Task, turn: Actor, placeOf: PlaceOf | undefined): Promise<TaskFacts> {
  const isMine = task.status === "in_progress" && task.owner === ownerOf(turn);
  return [...holding(task, isMine, tasksHeld(turn)), ...(await placesFor(task, isMine, { turn, placeOf }))];
}

function holding({ id, subject }: Task, isMine: boolean, held: Readonly<Record<string, string>>): TaskFacts {
  const known = own(held, id);
  if (isMine) return known === subject ? [] : [{ type: "task.held", data: { task: id, subject } }];
  return known === undefined ? [] : [{ type: "task.dropped", data: { task: id } }];
}

async function placesFor(
  task: Task,
  isMine: boolean,
  { turn, placeOf }: { turn: Actor; placeOf: PlaceOf | undefined },
): Promise<TaskFacts> {
  const here = workplaceOf(turn);
  if (isMine && task.worktree !== null && here?.task === task.id) return [];
  const path = isMine ? await pathFor(task, placeOf) : undefined;
  if (path !== undefined) return entering(task, path);
  return here && (isMine || here.task === task.id) ? leaving(contextRoot(turn)) : [];
}

/** `movesFor` after a claim: when the worktree is gone the task is released again, recorded under `CALL/back`. */
export async function movesOrRelease(
  task: Task,
  opts: { turn: Actor; placeOf?: PlaceOf; board: Pick<TaskBoard, "update">; call?: string },
): Promise<TaskFacts> {
  const { turn, placeOf, board, call } = opts;
  try {
    return await movesFor(task, turn, placeOf);
  } catch (error) {
    const by = { context: turn.context, agent: turn.agent, ...(call && { call: `${call}/back` }) };
    await board.update(task.id, { status: "pending", note: "its worktree is not there" }, by);
    throw error;
  }
}

/** For the result of the call. */
export function placeLine(moves: TaskFacts): string {
  const data = moves.find((fact) => fact.type === "agent.moved")?.data;
  if (!data) return "";
  return data.root === null
    ? `\nyou are back in ${data.cwd}`
    : `\nyou now work in the worktree ${data.cwd}: paths and commands mean that tree; commit there; the main tree is for reading`;
}
