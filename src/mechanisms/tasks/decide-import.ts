// The decision to import tasks: ids kept where they are free, dependencies wired anew, all of them or none.
import { HoldfastError } from "../../ledger/error.ts";
import {
  type BoardDecision,
  checkCycle,
  checkFields,
  EDGES,
  fact,
  IDS,
  invalid,
  refuseDecision,
  taskEntity,
} from "./decision.ts";
import type { BoardState } from "./fold.ts";
import type { By, Task } from "./port.ts";
import { short } from "./task-text.ts";

/** One `task_*.json`, as read. */
export interface TaskFile extends Omit<Task, "createdAt" | "updatedAt" | "unhostedAt"> {
  file: string;
  createdAt?: number;
}

export interface Imported {
  /** Id in the file → id on the board. */
  created: { from: string; id: string }[];
  /** On the board already: the same id and subject. */
  present: string[];
}

/** Larger numbers would leave none for the tasks after them. */
const LARGEST = 1_000_000;

export function decideImport(
  state: BoardState,
  files: TaskFile[],
  by: By,
): { decision: BoardDecision; imported: Imported } {
  const ids = idsFor(state, files);
  const present = new Set(files.filter((file) => isPresent(state.tasks.get(file.id), file)));
  const fresh = files.filter((file) => !present.has(file));
  for (const file of fresh) checkFields(file, `${file.file}: `);
  const wired = fresh.map((file) => ({ file, id: ids.get(file.id)!, blockedBy: resolve(file, ids) }));
  const blockersOf = new Map(wired.map(({ id, blockedBy }) => [id, blockedBy]));
  checkCycle(
    blockersOf.keys(),
    (id) => blockersOf.get(id) ?? [],
    (id) => id,
  );
  const kept = wired.flatMap(({ blockedBy }) => blockedBy.filter((id) => !blockersOf.has(id)));
  const statuses = new Map(wired.map(({ id, file }) => [id, file.status]));
  const completed = (id: string) => (statuses.get(id) ?? state.tasks.get(id)?.status) === "completed";
  const decision: BoardDecision = {
    events: wired.map(({ file, id, blockedBy }) =>
      fact("task.created", by, [taskEntity(id), IDS, ...(blockedBy.length > 0 ? [EDGES] : [])], {
        ...{ id, subject: file.subject.trim(), description: file.description, blockedBy },
        ...{ priority: file.priority, labels: file.labels },
        imported: {
          status: file.status === "in_progress" ? "pending" : file.status,
          worktree: file.worktree,
          history: file.history,
          ...(file.createdAt !== undefined && { createdAt: file.createdAt }),
        },
        ...(file.status === "in_progress" && {
          note: `was in progress${file.owner ? `, ${short(file.owner, 100)}` : ""}: nobody's here`,
        }),
      }),
    ),
    reads: [IDS, EDGES, ...wired.map(({ id }) => taskEntity(id)), ...kept.map(taskEntity)],
    claimable: wired
      .filter(
        ({ file, blockedBy }) =>
          file.status !== "completed" && file.status !== "cancelled" && blockedBy.every(completed),
      )
      .map(({ id }) => id),
  };
  return {
    decision,
    imported: {
      created: wired.map(({ file, id }) => ({ from: file.id, id })),
      present: [...present].map((file) => file.id),
    },
  };
}

function isPresent(task: Task | undefined, file: TaskFile): boolean {
  if (!task || task.subject !== file.subject.trim()) return false;
  return file.createdAt === undefined || file.createdAt === task.createdAt;
}

function idsFor(state: BoardState, files: TaskFile[]): Map<string, string> {
  const ids = new Map<string, string>();
  const numbers = files.map((file) => Number(/^task_(\d+)$/.exec(file.id)?.[1] ?? 0)).filter((n) => n <= LARGEST);
  let next = Math.max(state.lastId, ...numbers) + 1;
  for (const file of files) {
    if (ids.has(file.id)) throw invalid(`${file.file}: the id ${short(file.id, 60)} stands in another file too`);
    const here = state.tasks.get(file.id);
    const number = /^task_(\d+)$/.exec(file.id)?.[1];
    const fits = /^task_[A-Za-z0-9_-]{1,64}$/.test(file.id) && (number === undefined || Number(number) <= LARGEST);
    ids.set(file.id, here ? (isPresent(here, file) ? file.id : `task_${next++}`) : fits ? file.id : `task_${next++}`);
  }
  return ids;
}

function resolve(file: TaskFile, ids: Map<string, string>): string[] {
  const wired = file.blockedBy.map((from) => ({ from, id: ids.get(from) }));
  const unknown = wired.filter(({ id }) => id === undefined);
  if (unknown.length > 0)
    throw new HoldfastError(
      "not_found",
      `${file.file}: blockedBy ${unknown.map(({ from }) => short(from, 60)).join(", ")} is in no file; nothing was imported`,
    );
  if (file.blockedBy.includes(file.id)) throw refuseDecision(`${file.file}: it waits for itself; nothing was imported`);
  return [...new Set(wired.flatMap(({ id }) => id ?? []))];
}
