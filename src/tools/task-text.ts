// Owns how tasks are written for a model or a terminal: one line each, bounded, with nothing in it that acts on the reader's screen.
import { shownOwner, type Task } from "./task-board.ts";
import { cutText } from "./text.ts";

const SUBJECT_CHARS = 120;
const NAMES = 8;
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|\udb40[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** On one line: control characters, and those that hide or turn text around, are shown by their code. */
export const visible = (text: string): string => text.replace(HIDDEN, codeOf);

function codeOf(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  const code = char.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

export function short(text: string, max = SUBJECT_CHARS): string {
  const cut = cutText(text, max);
  return visible(cut) + (cut.length < text.length ? "…" : "");
}

/** `task_1, task_2 and 7 more` */
export function names(tasks: readonly Pick<Task, "id">[]): string {
  const shown = tasks.slice(0, NAMES).map((t) => visible(t.id));
  return shown.join(", ") + (tasks.length > NAMES ? ` and ${tasks.length - NAMES} more` : "");
}

/** `task_3 pending high, blocked by task_1: Write the API [backend]` */
export function taskLine(task: Task, view: { blockers: readonly Task[]; context?: string }): string {
  const { id, status, owner, priority, labels, subject, worktree } = task;
  const facts = [
    `${visible(id)} ${status}${priority === "normal" ? "" : ` ${priority}`}`,
    ...(owner ? [`${status === "pending" ? "kept for " : ""}${short(shownOwner(owner, view.context))}`] : []),
    ...(view.blockers.length > 0 ? [`blocked by ${names(view.blockers)}`] : []),
    ...(worktree ? [`in ${short(worktree)}`] : []),
  ];
  const tags = labels.length > 0 ? ` [${short(labels.join(", "), 60)}]` : "";
  return `${facts.join(", ")}: ${short(subject)}${tags}`;
}
