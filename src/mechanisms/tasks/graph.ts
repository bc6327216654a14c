// Questions about dependencies: what blocks a task, what one frees, where a circle is. Nothing here changes anything.
import { PRIORITIES, type Task } from "./port.ts";

/** The tasks as a decision sees them. */
export interface Tasks {
  get(id: string): Task | undefined;
}

/** What is not completed. A cancelled one blocks too: what it was to bring did not come. */
export const openBlockers = (tasks: Tasks, task: Task): Task[] =>
  task.blockedBy.flatMap((id) => {
    const blocker = tasks.get(id);
    return blocker && blocker.status !== "completed" ? [blocker] : [];
  });

export const isClaimable = (tasks: Tasks, task: Task, owner?: string): boolean =>
  task.status === "pending" && (task.owner === null || task.owner === owner) && openBlockers(tasks, task).length === 0;

/** Direct dependants that wait for nothing else once `id` is completed (or no longer counts). */
export const freedBy = (tasks: Tasks, id: string, dependants: Iterable<string>): string[] =>
  [...dependants].filter((one) => {
    const task = tasks.get(one);
    return task?.status === "pending" && openBlockers(tasks, task).every((blocker) => blocker.id === id);
  });

/** A circle that can be reached from `starts`, its first name again at its end. */
export function findCycle(
  starts: Iterable<string>,
  blockersOf: (id: string) => readonly string[],
): string[] | undefined {
  const done = new Set<string>();
  for (const start of starts) {
    const path: { id: string; next: number }[] = [];
    const onPath = new Set<string>();
    const enter = (id: string) => {
      path.push({ id, next: 0 });
      onPath.add(id);
    };
    if (!done.has(start)) enter(start);
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const blocker = blockersOf(at.id)[at.next++];
      if (blocker === undefined) {
        path.pop();
        onPath.delete(at.id);
        done.add(at.id);
      } else if (onPath.has(blocker)) {
        const from = path.findIndex((one) => one.id === blocker);
        return [...path.slice(from).map((one) => one.id), blocker];
      } else if (!done.has(blocker)) enter(blocker);
    }
  }
  return undefined;
}

const rank = (task: Task): number => PRIORITIES.indexOf(task.priority);

/** Best first: priority, then age. */
export const byWorth = (a: Task, b: Task): number => rank(a) - rank(b) || a.createdAt - b.createdAt;

/** Running, claimable, blocked, done (newest first). */
export function inOrder(tasks: Tasks, all: Iterable<Task>): Task[] {
  const place = (task: Task): number => {
    if (task.status === "in_progress") return 0;
    if (task.status !== "pending") return 3;
    return openBlockers(tasks, task).length === 0 ? 1 : 2;
  };
  return [...all]
    .map((task) => ({ task, at: place(task) }))
    .sort((a, b) => a.at - b.at || (a.at === 3 ? b.task.updatedAt - a.task.updatedAt : byWorth(a.task, b.task)))
    .map(({ task }) => task);
}
