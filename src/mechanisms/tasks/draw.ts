// The drawing of the board as plain text: a tree of tasks with their states and owners, no wider and no longer than asked for.

import { fitted } from "../../text/columns.ts";
import { visible } from "../../text/visible.ts";
import type { Task, TaskStatus } from "./port.ts";

interface DrawOptions {
  /** Columns (default 80). */
  width?: number;
  /** Lines (default 200). */
  lines?: number;
  /** Done branches too. */
  all?: boolean;
}

const SIGNS: Record<TaskStatus | "blocked", string> = {
  pending: "○",
  blocked: "‖",
  in_progress: "▶",
  completed: "✓",
  cancelled: "✗",
};
/** Deeper tasks are drawn at this depth: something has to be left for their names. */
const NARROWEST = 32;

/** Each task stands once, under the blocker that comes last; the others are named beside it. */
export function drawTasks(tasks: readonly Task[], opts: DrawOptions = {}): string {
  const columns = Math.max(20, opts.width ?? 80);
  const known = new Map(tasks.map((task) => [task.id, task]));
  const depths = depthsOf(known);
  const kept = opts.all ? new Set(known.keys()) : neededBy(known);
  const parentOf = (task: Task): string | undefined =>
    task.blockedBy.filter((id) => known.has(id)).toSorted((a, b) => depths.get(b)! - depths.get(a)!)[0];
  const under = new Map<string | undefined, Task[]>();
  for (const task of tasks) {
    if (!kept.has(task.id)) continue;
    const parent = parentOf(task);
    const siblings = under.get(parent);
    if (siblings) siblings.push(task);
    else under.set(parent, [task]);
  }
  const lines: string[] = [];
  const most = opts.lines ?? 200;
  const waiting: { task: Task; indent: string; last: boolean; top: boolean }[] = [];
  const push = (children: Task[], indent: string, top: boolean) => {
    for (const [i, task] of [...children.entries()].reverse())
      waiting.push({ task, indent, last: i === children.length - 1, top });
  };
  push(under.get(undefined) ?? [], "", true);
  while (lines.length < most) {
    const next = waiting.pop();
    if (!next) break;
    const { task, indent, last, top } = next;
    const deep = indent.length + NARROWEST > columns;
    const branch = top || deep ? "" : last ? "└─ " : "├─ ";
    const below = top || deep ? "" : last ? "   " : "│  ";
    lines.push(cut(`${indent}${branch}${lineOf(task, known, parentOf(task))}`, columns));
    push(under.get(task.id) ?? [], indent + below, false);
  }
  const left = kept.size - lines.length;
  if (left > 0) lines.push(cut(`… and ${left} more`, columns));
  if (kept.size < tasks.length) lines.push(cut(`(${tasks.length - kept.size} done: --all shows them)`, columns));
  return lines.length > 0 ? `${lines.join("\n")}\n` : "(no tasks)\n";
}

function lineOf(task: Task, known: ReadonlyMap<string, Task>, parent: string | undefined): string {
  const blocked = task.status === "pending" && blockersIn(known, task).some(({ status }) => status !== "completed");
  const state = blocked ? "blocked" : task.status;
  const others = task.blockedBy.filter((id) => id !== parent && known.has(id));
  const facts = [
    ...(task.owner ? [visible(task.owner)] : []),
    ...(task.priority === "normal" ? [] : [task.priority]),
    ...(others.length > 0
      ? [`also after ${others.slice(0, 5).map(visible).join(", ")}${others.length > 5 ? ", …" : ""}`]
      : []),
  ];
  return `${SIGNS[state]} ${visible(task.id)} ${state} ${visible(task.subject)}${facts.length > 0 ? ` · ${facts.join(" · ")}` : ""}`;
}

/** Those it waits for that are drawn from. */
const blockersIn = (known: ReadonlyMap<string, Task>, task: Task): Task[] =>
  task.blockedBy.flatMap((id) => known.get(id) ?? []);

/** What is open, and what stands before something open. */
function neededBy(known: ReadonlyMap<string, Task>): Set<string> {
  const isOpen = (task: Task) => task.status === "pending" || task.status === "in_progress";
  const kept = new Set<string>();
  const waiting = [...known.values()].filter(isOpen);
  for (let task = waiting.pop(); task !== undefined; task = waiting.pop()) {
    if (kept.has(task.id)) continue;
    kept.add(task.id);
    waiting.push(...blockersIn(known, task));
  }
  return kept;
}

/** The longest way from a task that waits for nothing. */
function depthsOf(known: ReadonlyMap<string, Task>): Map<string, number> {
  const depths = new Map<string, number>();
  for (const start of known.values()) {
    const path = [start];
    for (let task = path.at(-1); task !== undefined; task = path.at(-1)) {
      const blockers = blockersIn(known, task);
      const open = blockers.filter((one) => !depths.has(one.id));
      if (depths.has(task.id) || open.length === 0) {
        depths.set(task.id, Math.max(-1, ...blockers.flatMap((one) => depths.get(one.id) ?? [])) + 1);
        path.pop();
      } else path.push(...open);
    }
  }
  return depths;
}

const cut = (text: string, columns: number): string => fitted(text.trimEnd(), columns);
