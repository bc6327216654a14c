// How tasks are written for a model or a terminal: one line each, bounded, with nothing in it that acts on the reader's screen.

import { cutText } from "../../text/cut.ts";
import { visible } from "../../text/visible.ts";
import { shownOwner, type Task, type UnknownOutcome } from "./port.ts";

const SUBJECT_CHARS = 120;
const NAMES = 8;

export function short(text: string, max = SUBJECT_CHARS): string {
  const cut = cutText(text, max);
  return visible(cut) + (cut.length < text.length ? "…" : "");
}

/** `task_1, task_2 and 7 more` */
export function names(tasks: readonly Pick<Task, "id">[]): string {
  const shown = tasks.slice(0, NAMES).map((t) => visible(t.id));
  return shown.join(", ") + (tasks.length > NAMES ? ` and ${tasks.length - NAMES} more` : "");
}

/** `the unknown outcome of bash (c7)` */
export function unknownText(outcomes: readonly UnknownOutcome[]): string {
  const shown = outcomes.slice(0, NAMES).map(({ call, tool }) => `${visible(tool)} (${visible(call)})`);
  const more = outcomes.length > NAMES ? ` and ${outcomes.length - NAMES} more` : "";
  return `the unknown outcome of ${shown.join(", ")}${more}`;
}

/** `task_3 pending high, blocked by task_1: Write the API [backend]` */
export function taskLine(task: Task, view: { blockers: readonly Task[]; context?: string }): string {
  const { id, status, owner, priority, labels, subject, worktree } = task;
  const facts = [
    `${visible(id)} ${status}${priority === "normal" ? "" : ` ${priority}`}`,
    ...(owner ? [`${status === "pending" ? "kept for " : ""}${short(shownOwner(owner, view.context))}`] : []),
    ...(view.blockers.length > 0 ? [`blocked by ${names(view.blockers)}`] : []),
    ...(worktree ? [`in ${short(worktree)}`] : []),
    ...(task.unknown ? [`after ${unknownText(task.unknown)}`] : []),
  ];
  const tags = labels.length > 0 ? ` [${short(labels.join(", "), 60)}]` : "";
  return `${facts.join(", ")}: ${short(subject)}${tags}`;
}
