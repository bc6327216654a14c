// The decisions to change a task (fields, dependencies, owner, then its status) and to delete one.
import { HoldfastError } from "../../ledger/error.ts";
import type { EventInput } from "../../ledger/store.ts";
import { decideCancel, decideClaim, decideComplete, decideRelease, type Scene } from "./decide-work.ts";
import {
  type BoardDecision,
  boundedText,
  checkCycle,
  checkFields,
  EDGES,
  fact,
  heldBy,
  invalid,
  mayDispose,
  noted,
  ownerEntity,
  refuseDecision,
  taskEntity,
} from "./decision.ts";
import type { BoardState } from "./fold.ts";
import { freedBy, type Tasks } from "./graph.ts";
import { type By, ownerOf, type Task, type TaskChanges, taskId } from "./port.ts";
import { names, short } from "./task-text.ts";

const BLOCKERS = 100;

export function decideUpdate(scene: Scene, task: Task, changes: TaskChanges): BoardDecision {
  if (Object.values(changes).every((value) => value === undefined)) throw invalid("nothing to change was given");
  const steps: BoardDecision[] = [];
  let now = task;
  const take = (decision: BoardDecision, after: Partial<Task>) => {
    steps.push(decision);
    if (decision.events.length > 0) now = { ...now, ...after };
  };
  const tasks: Tasks = { get: (id) => (id === task.id ? now : scene.tasks.get(id)) };
  const here = { ...scene, tasks, note: changes.note, unknown: changes.unknown };
  const fields = decideFields(here, now, changes);
  take(fields.decision, fields.after);
  const { owner, status } = changes;
  if (owner !== undefined && owner !== now.owner && now.status === "in_progress" && status !== "in_progress") {
    if (status !== "completed" && status !== "cancelled")
      take(decideRelease(here, now), { status: "pending", owner: null });
    else throw invalid(`${task.id}: give owner or status ${status}, not both`);
  }
  if (owner !== undefined && owner !== now.owner) take(decideAssign(here, now, owner), { owner });
  if (status === "in_progress") {
    if (now.owner !== null && now.owner !== ownerOf(scene.by) && now.status === "pending")
      throw refuseDecision(`${task.id} is kept for ${short(now.owner)}: only its owner can claim it`);
    take(decideClaim(here, now), { status });
  } else if (status === "completed") take(decideComplete(here, now), { status });
  else if (status === "cancelled") take(decideCancel(here, now), { status });
  else if (status === "pending" && now.status !== "pending") take(decideRelease(here, now), { status, owner: null });
  return {
    events: steps.flatMap((one) => one.events),
    reads: steps.flatMap((one) => one.reads),
    claimable: [...new Set(steps.flatMap((one) => one.claimable))],
  };
}

function decideFields(
  scene: Scene,
  task: Task,
  changes: TaskChanges,
): { decision: BoardDecision; after: Partial<Task> } {
  const { subject, description, worktree, priority, labels, addBlockedBy, removeBlockedBy, note } = changes;
  const set = defined({
    subject: subject?.trim(),
    description,
    worktree,
    priority,
    labels: labels && [...new Set(labels)],
  });
  const { added, removed } = edgesOf(scene.tasks, task, addBlockedBy ?? [], removeBlockedBy ?? []);
  const onlyNote = note !== undefined && changes.status === undefined && changes.owner === undefined;
  const hasEdges = added.length + removed.length > 0;
  if (Object.keys(set).length === 0 && !hasEdges && !onlyNote)
    return { decision: { events: [], reads: [], claimable: [] }, after: {} };
  checkFields(changes);
  if (worktree) boundedText("worktree", worktree, 4096);
  const { id } = task;
  const isContent = subject !== undefined || description !== undefined || hasEdges;
  if (isContent && task.status !== "pending" && task.status !== "in_progress")
    throw refuseDecision(`${id} is ${task.status}: create a new task instead`);
  if (isContent && task.status === "in_progress" && !mayDispose(task, scene.by))
    throw refuseDecision(`${id} is being worked on: ${heldBy(task)}; send its owner a message`);
  const blockedBy = [...task.blockedBy.filter((one) => !removed.includes(one)), ...added];
  if (blockedBy.length > BLOCKERS) throw invalid(`${id} would wait for ${blockedBy.length} tasks, at most ${BLOCKERS}`);
  const after = { ...set, blockedBy };
  const { get } = scene.tasks;
  if (added.length > 0)
    checkCycle(
      [id],
      (one) => (one === id ? blockedBy : (get(one)?.blockedBy ?? [])),
      (one) => one,
    );
  const wasBlocked = task.blockedBy.some((one) => isOpen(get(one)));
  const unblocked = task.status === "pending" && wasBlocked && !blockedBy.some((one) => isOpen(get(one))) ? [id] : [];
  return {
    decision: {
      events: [
        fact("task.changed", scene.by, [taskEntity(id), ...(hasEdges ? [EDGES] : [])], {
          ...{ id, set, added, removed, unblocked },
          ...(onlyNote ? noted(note) : {}),
        }),
      ],
      reads: [
        taskEntity(id),
        ...(hasEdges ? [EDGES, ...task.blockedBy.map(taskEntity), ...added.map(taskEntity)] : []),
      ],
      claimable: unblocked,
    },
    after,
  };
}

const isOpen = (task: Task | undefined): boolean => task !== undefined && task.status !== "completed";

function edgesOf(tasks: Tasks, task: Task, add: string[], remove: string[]): { added: string[]; removed: string[] } {
  const ids = [...new Set([...add, ...remove].map(taskId))];
  const unknown = ids.filter((id) => !tasks.get(id) && !task.blockedBy.includes(id));
  if (unknown.length > 0)
    throw new HoldfastError(
      "not_found",
      `there is no task ${unknown.map((id) => short(id, 40)).join(", ")}; nothing was changed`,
    );
  const added = [...new Set(add.map(taskId))];
  if (added.includes(task.id)) throw refuseDecision(`${task.id} cannot wait for itself; nothing was changed`);
  const both = remove.map(taskId).filter((id) => added.includes(id));
  if (both.length > 0) throw invalid(`${both.join(", ")} is both added and removed`);
  return {
    added: added.filter((id) => !task.blockedBy.includes(id)),
    removed: [...new Set(remove.map(taskId))].filter((id) => task.blockedBy.includes(id)),
  };
}

function decideAssign({ by, note }: Scene, task: Task, owner: string | null): BoardDecision {
  if (task.status !== "pending") throw refuseDecision(`${task.id} is ${task.status}: its owner stays`);
  if (task.owner !== null && !mayDispose(task, by))
    throw refuseDecision(
      `${task.id} is kept for ${short(task.owner)}: only they, their lead or the user may change that`,
    );
  if (owner !== null && (owner.trim() === "" || owner.length > 200)) throw invalid("owner: give an agent's name");
  return {
    events: [fact("task.assigned", by, [taskEntity(task.id)], { id: task.id, owner, ...noted(note) })],
    reads: [taskEntity(task.id)],
    claimable: owner === null ? [task.id] : [],
  };
}

/** `force` takes it away from its owner and from those that wait for it. */
export function decideDelete(state: BoardState, task: Task, by: By, force: boolean): BoardDecision {
  const { id, owner } = task;
  const detached = [...(state.dependants.get(id) ?? [])];
  if (!mayDispose(task, by))
    throw refuseDecision(`${id} can only be deleted by its owner, its lead or the user: ${heldBy(task)}`);
  if (task.status === "in_progress" && !force)
    throw refuseDecision(`${id} is being worked on: ${heldBy(task)}; release it first`);
  if (detached.length > 0 && !force)
    throw refuseDecision(
      `${names(detached.map((one) => ({ id: one })))} would wait for ${id} for ever: remove the dependency first`,
    );
  const unblocked = task.status === "completed" ? [] : freedBy(state.tasks, id, detached);
  const others = detached.flatMap((one) => state.tasks.get(one)?.blockedBy ?? []);
  const hasEdges = detached.length + task.blockedBy.length > 0;
  const touches = [
    taskEntity(id),
    ...detached.map(taskEntity),
    ...(hasEdges ? [EDGES] : []),
    ...(owner ? [ownerEntity(owner)] : []),
  ];
  const events: EventInput[] = [fact("task.deleted", by, touches, { id, detached, unblocked })];
  return {
    events,
    reads: [taskEntity(id), EDGES, ...detached.map(taskEntity), ...others.map(taskEntity)],
    claimable: unblocked,
  };
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
