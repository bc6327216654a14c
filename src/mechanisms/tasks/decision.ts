// What every decision shares: what it may append, what it read, who may do what, and how a refusal is worded.
import { HoldfastError } from "../../ledger/error.ts";
import type { EventInput } from "../../ledger/store.ts";
import { findCycle, type Tasks } from "./graph.ts";
import { type By, ownerOf, type Task, taskId } from "./port.ts";
import { names, short } from "./task-text.ts";

/** Every entity that the decision read is in `reads`; nothing to append means that all is as wished. */
export interface BoardDecision {
  events: EventInput[];
  reads: string[];
  /** Tasks that anyone may claim from here on. */
  claimable: string[];
}

export const EDGES = "board:edges";
export const IDS = "board:ids";
export const taskEntity = (id: string): string => `task:${id}`;
export const ownerEntity = (owner: string): string => `owner:${owner}`;

/** The same call done twice has the same ids: `CONTEXT/AGENT/CALL#0`, … are given when all events of a decision are there. */
export const fact = (type: string, by: By, touches: string[], data: object): EventInput => ({
  type,
  actor: ownerOf(by),
  touches,
  data: { by, ...data },
});

export const noted = (note: string | undefined) =>
  note === undefined ? {} : { note: boundedText("note", note, 2000) };

export const refuseDecision = (why: string): HoldfastError => new HoldfastError("refused", why);
export const invalid = (why: string): HoldfastError => new HoldfastError("invalid", why);

export function findTask(tasks: Tasks, given: string): Task {
  const task = tasks.get(taskId(given));
  if (task) return task;
  throw new HoldfastError("not_found", `there is no task ${short(given, 60)}`, { next: "list tasks" });
}

export function boundedText(what: string, text: string, max: number): string {
  if (text.length <= max) return text;
  throw invalid(`${what} has ${text.length} characters, at most ${max} fit: put the rest into a file and name it`);
}

const SUBJECT = 200;
const DESCRIPTION = 8000;
const LABELS = 20;
const LABEL = 60;

/** Contract: throws when a field does not fit; says which. */
export function checkFields(fields: { subject?: string; description?: string; labels?: string[] }, where = ""): void {
  const { subject, description, labels } = fields;
  if (subject !== undefined) {
    if (subject.trim() === "") throw invalid(`${where}subject is empty: say in a few words what is to be done`);
    if (subject.length > SUBJECT)
      throw invalid(
        `${where}subject has ${subject.length} characters, at most ${SUBJECT} fit: put the rest into description`,
      );
  }
  if (description !== undefined) boundedText(`${where}description`, description, DESCRIPTION);
  if (labels && labels.length > LABELS)
    throw invalid(`${where}labels: ${labels.length} of them, at most ${LABELS} fit`);
  for (const label of labels ?? [])
    if (label.trim() === "") throw invalid(`${where}labels: one is empty`);
    else boundedText(`${where}labels`, label, LABEL);
}

/** Contract: throws with the whole circle by name. */
export function checkCycle(
  starts: Iterable<string>,
  blockersOf: (id: string) => readonly string[],
  name: (id: string) => string,
): void {
  const cycle = findCycle(starts, blockersOf);
  if (!cycle) return;
  const shown = cycle.length > 12 ? [...cycle.slice(0, 6), "…", ...cycle.slice(-5)] : cycle;
  throw refuseDecision(
    `that would be a cycle: ${shown.map((id) => (id === "…" ? id : name(id))).join(" waits for ")}; nothing was changed`,
  );
}

const isPerson = ({ agent, context }: By): boolean => context === undefined && agent === "user";

export const mayComplete = (task: Task, by: By): boolean => isPerson(by) || task.owner === ownerOf(by);

/** The owner, a person, the house itself, and the lead of the owner's context. */
export function mayDispose(task: Task, by: By): boolean {
  if (task.owner === null || mayComplete(task, by)) return true;
  if (by.context === undefined) return by.agent === "holdfast";
  return by.agent === "lead" && task.owner.startsWith(`${by.context}/`);
}

export const heldBy = (task: Task): string => `it is ${task.owner ? short(task.owner) : "nobody"}'s`;

export const blockedText = (task: Task, blockers: Task[]): string =>
  `${task.id} is blocked by ${blockers.length > 8 ? names(blockers) : blockers.map((b) => `${b.id} (${b.status}${b.owner ? `, ${short(b.owner)}` : ""})`).join(", ")}`;
