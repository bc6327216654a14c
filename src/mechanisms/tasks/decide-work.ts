// The decisions about a task's life: claim, release, complete, cancel.

import {
  type BoardDecision,
  blockedText,
  EDGES,
  fact,
  heldBy,
  mayComplete,
  mayDispose,
  noted,
  ownerEntity,
  refuseDecision,
  taskEntity,
} from "./decision.ts";
import type { BoardState } from "./fold.ts";
import { byWorth, freedBy, isClaimable, openBlockers, type Tasks } from "./graph.ts";
import { type By, type ClaimChoice, ownerOf, type Task, type UnknownOutcome } from "./port.ts";
import { names, short } from "./task-text.ts";

/** `tasks` may show the task as it will be after what else is decided in the same call. */
export interface Scene {
  state: BoardState;
  tasks: Tasks;
  by: By;
  note?: string;
  /** What its owner does not know the outcome of, if it is completed. */
  unknown?: readonly UnknownOutcome[];
  /** Running tasks an owner may have. */
  limit: number;
}

/** Of more, the latest are kept. */
const MOST_UNKNOWN = 20;

const NOTHING: BoardDecision = { events: [], reads: [], claimable: [] };

const closed = (task: Task) => task.status === "completed" || task.status === "cancelled";

export function decideClaim({ state, tasks, by, note, limit }: Scene, task: Task): BoardDecision {
  const owner = ownerOf(by);
  const { id } = task;
  if (task.status === "in_progress") {
    if (task.owner === owner) return NOTHING;
    throw refuseDecision(`${id} was already claimed: ${heldBy(task)}`);
  }
  if (closed(task)) throw refuseDecision(`${id} is ${task.status}: there is nothing to claim`);
  const blockers = openBlockers(tasks, task);
  if (blockers.length > 0) throw refuseDecision(`${blockedText(task, blockers)}: it cannot be claimed yet`);
  if (task.owner !== null && task.owner !== owner) throw refuseDecision(`${id} is kept for ${short(task.owner)}`);
  const running = state.running.get(owner);
  if (running && running.size >= limit)
    throw refuseDecision(
      `${short(owner)} already works on ${names([...running].map((one) => ({ id: one })))}: complete or release it before claiming ${id}`,
    );
  const touched = [taskEntity(id), ownerEntity(owner)];
  return {
    events: [fact("task.claimed", by, touched, { id, owner, ...noted(note) })],
    reads: [...touched, ...task.blockedBy.map(taskEntity)],
    claimable: [],
  };
}

/** Its own running task first, then one kept for it, then the best of all that `fits`. */
export function decideClaimNext(
  scene: Scene,
  { fits = () => true, leaves = () => false }: ClaimChoice,
): { task?: Task; decision: BoardDecision } {
  const { state, by } = scene;
  const owner = ownerOf(by);
  const [own] = state.running.get(owner) ?? [];
  if (own !== undefined) return { task: state.tasks.get(own), decision: NOTHING };
  let best: Task | undefined;
  const goesBefore = (a: Task, b: Task) => Number(a.owner === null) - Number(b.owner === null) || byWorth(a, b);
  for (const task of state.tasks.values()) {
    if (!isClaimable(state.tasks, task, owner) || leaves(task) || (task.owner === null && !fits(task))) continue;
    if (!best || goesBefore(task, best) < 0) best = task;
  }
  return best ? { task: best, decision: decideClaim(scene, best) } : { decision: NOTHING };
}

export function decideRelease({ by, note }: Scene, task: Task): BoardDecision {
  const { id, owner } = task;
  if (closed(task)) throw refuseDecision(`${id} is ${task.status}: it cannot be released`);
  if (task.status === "pending" && owner === null) return NOTHING;
  if (!mayDispose(task, by))
    throw refuseDecision(`${id} can only be released by its owner, its lead or the user: ${heldBy(task)}`);
  const touched = [taskEntity(id), ...(owner ? [ownerEntity(owner)] : [])];
  return {
    events: [fact("task.released", by, touched, { id, ...noted(note) })],
    reads: [taskEntity(id)],
    claimable: [id],
  };
}

/** Guards what it says about others: of two completions that together free a task, the second one says so. */
export function decideComplete({ state, tasks, by, note, unknown = [] }: Scene, task: Task): BoardDecision {
  const { id, owner } = task;
  if (task.status === "completed" && mayComplete(task, by)) return NOTHING;
  if (closed(task)) throw refuseDecision(`${id} is already ${task.status}`);
  if (!mayComplete(task, by))
    throw refuseDecision(
      owner === null || task.status === "pending"
        ? `${id} is not yours: claim it before you complete it`
        : `${id} can only be completed by its owner or the user: ${heldBy(task)}`,
    );
  const blockers = openBlockers(tasks, task);
  if (blockers.length > 0) throw refuseDecision(`${blockedText(task, blockers)}: it cannot be complete before them`);
  if (task.status === "pending" && by.context !== undefined)
    throw refuseDecision(`${id} is not claimed: claim it first`);
  const dependants = [...(state.dependants.get(id) ?? [])];
  const unblocked = freedBy(tasks, id, dependants);
  const others = dependants.flatMap((one) => [one, ...(tasks.get(one)?.blockedBy ?? [])]);
  const touched = [taskEntity(id), ...(owner ? [ownerEntity(owner)] : [])];
  return {
    events: [
      fact("task.completed", by, touched, {
        ...{ id, unblocked, ...noted(note) },
        ...(unknown.length > 0 && { unknown: unknown.slice(-MOST_UNKNOWN) }),
      }),
    ],
    reads: [taskEntity(id), EDGES, ...task.blockedBy.map(taskEntity), ...others.map(taskEntity)],
    claimable: unblocked,
  };
}

export function decideCancel({ by, note }: Scene, task: Task): BoardDecision {
  const { id, owner } = task;
  if (task.status === "cancelled") return NOTHING;
  if (closed(task)) throw refuseDecision(`${id} is already completed`);
  if (!mayDispose(task, by))
    throw refuseDecision(`${id} can only be cancelled by its owner, its lead or the user: ${heldBy(task)}`);
  const touched = [taskEntity(id), ...(owner ? [ownerEntity(owner)] : [])];
  return {
    events: [fact("task.cancelled", by, touched, { id, ...noted(note) })],
    reads: [taskEntity(id)],
    claimable: [],
  };
}
