// `holdfast tasks ls|show|add|update|claim|release|done|cancel|rm|graph|export|import`: the board, for a person.

import { resolve } from "node:path";
import type { Project } from "../../contexts/project.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { outputColumns } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Store } from "../../ledger/store.ts";
import type { Board } from "../../mechanisms/tasks/board.ts";
import { drawTasks } from "../../mechanisms/tasks/draw.ts";
import { readTaskFiles, writeTaskFiles } from "../../mechanisms/tasks/files.ts";
import { openBoard } from "../../mechanisms/tasks/index.ts";
import {
  type By,
  type Changed,
  PRIORITIES,
  type Priority,
  TASK_STATUSES,
  type Task,
  type TaskChanges,
  type TaskStatus,
} from "../../mechanisms/tasks/port.ts";
import { names, taskLine } from "../../mechanisms/tasks/task-text.ts";
import { visible } from "../../text/visible.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { withState } from "../open.ts";

/** Each verb has those of its own table. */
type Flags = PlaceFlags & Partial<JsonToo> & { all?: boolean; force?: boolean; reason?: string };

const USER: By = { agent: "user" };
const LISTED = 200;
const usage = (message: string) => new HoldfastError("invalid", message);

interface Desk {
  board: Board;
  store: Store;
  project: Project;
  flags: Flags;
  /** Where relative paths begin. */
  cwd: string;
  print(text: string): void;
}

const VERBS = {
  ls,
  show,
  add,
  update,
  claim: async (desk: Desk, id: string) => say(desk, "claimed", await desk.board.claim(id, USER)),
  release: async (desk: Desk, id: string) =>
    say(desk, "released", await desk.board.release(id, USER, desk.flags.reason)),
  done: async (desk: Desk, id: string) =>
    sayChanged(desk, await desk.board.complete(id, USER, { note: desk.flags.reason })),
  cancel: async (desk: Desk, id: string) =>
    sayChanged(desk, await desk.board.update(id, { status: "cancelled", note: desk.flags.reason }, USER)),
  rm: async (desk: Desk, id: string) => {
    const unblocked = await desk.board.delete(id, USER, { force: desk.flags.force });
    desk.print(`removed ${visible(id)}${unblocked.length > 0 ? `; unblocked: ${names(unblocked)}` : ""}\n`);
  },
  graph: async ({ board, flags, print }: Desk) =>
    print(drawTasks(await board.list(), { width: outputColumns() ?? 100, all: flags.all })),
  export: async ({ board, flags, cwd, print }: Desk, dir: string) => {
    const files = await writeTaskFiles(resolve(cwd, dir), await board.list(), { force: flags.force });
    print(`${files.length} tasks in ${visible(dir)}\n`);
  },
  import: async ({ board, cwd, print }: Desk, dir: string) => {
    const files = await readTaskFiles(resolve(cwd, dir));
    const { created, present } = await board.import(files, USER);
    for (const { from, id } of created.filter((one) => one.from !== one.id)) print(`${visible(from)} is now ${id}\n`);
    print(`${created.length} imported${present.length > 0 ? `, ${present.length} were there already` : ""}\n`);
  },
};

export const atBoard = (flags: Flags, work: (verbs: typeof VERBS, desk: Desk) => Promise<void>): Promise<number> =>
  withState(flags, async ({ store, project }) => {
    const board = await openBoard(store);
    const print = (text: string) => process.stdout.write(text);
    await work(VERBS, { board, store, project, flags, cwd: flags.cwd, print });
    return 0;
  });

async function ls(desk: Desk, words: string[]): Promise<void> {
  const { board, flags, print } = desk;
  const given = pairs(words, ["status", "owner", "label"]);
  const all = await board.list({
    ...(given.status && { status: oneOf("status", given.status, TASK_STATUSES) }),
    ...(given.owner && { owner: given.owner }),
    ...(given.label && { label: given.label }),
  });
  if (flags.json) return print(`${JSON.stringify(all)}\n`);
  if (all.length === 0)
    process.stderr.write(`No tasks: add one with ${commandLine(["tasks", "add", "what to do"], flags)}\n`);
  const shown = flags.all ? all : all.slice(0, LISTED);
  for (const task of shown) print(`${line(desk, task)}\n`);
  if (shown.length < all.length) print(`… and ${all.length - shown.length} more: --all shows them\n`);
}

async function show({ board, store, project, flags, print }: Desk, id: string): Promise<void> {
  const task = await board.get(id);
  const { seeWorktree } = await import("./task-worktree.ts");
  const tree =
    task.worktree === null
      ? undefined
      : await seeWorktree({ name: task.worktree, task: task.id }, { project, store }, flags);
  if (flags.json) return print(`${JSON.stringify({ ...task, ...(tree && { worktreeState: tree.state }) })}\n`);
  const blockers = board.openBlockers(task);
  print(`${taskLine(task, { blockers })}\n`);
  if (task.description) print(`\n${task.description.split("\n").map(visible).join("\n")}\n`);
  if (task.blockedBy.length > 0) print(`\nafter ${task.blockedBy.map(visible).join(", ")}\n`);
  for (const line of tree?.lines ?? []) print(`${line}\n`);
  print("\n");
  for (const { at, by, what, note } of task.history)
    print(`${new Date(at).toISOString()}  ${visible(by)}  ${visible(what)}${note ? `: ${visible(note)}` : ""}\n`);
}

const FIELDS = ["description", "blockedBy", "priority", "labels"];

async function add(desk: Desk, subject: string, words: string[]): Promise<void> {
  const { blockedBy, ...fields } = changesOf(pairs(words, FIELDS));
  const created = await desk.board.create([{ subject, ...fields, ...(blockedBy && { blockedBy }) }], USER);
  for (const task of created) say(desk, "created", task);
}

async function update(desk: Desk, id: string, words: string[]): Promise<void> {
  const known = [
    "subject",
    "status",
    "owner",
    "worktree",
    "blockedBy+",
    "blockedBy-",
    ...FIELDS.filter((f) => f !== "blockedBy"),
  ];
  const given = pairs(words, known);
  const { blockedBy: _, ...fields } = changesOf(given);
  const changes: TaskChanges = {
    ...fields,
    ...(given["blockedBy+"] && { addBlockedBy: listOf(given["blockedBy+"]) }),
    ...(given["blockedBy-"] && { removeBlockedBy: listOf(given["blockedBy-"]) }),
    ...(given.owner !== undefined && { owner: given.owner === "" ? null : given.owner }),
    ...(given.worktree !== undefined && { worktree: given.worktree === "" ? null : given.worktree }),
    ...(desk.flags.reason !== undefined && { note: desk.flags.reason }),
  };
  sayChanged(desk, await desk.board.update(id, changes, USER));
}

function changesOf(given: Record<string, string>) {
  return {
    ...(given.subject !== undefined && { subject: given.subject }),
    ...(given.description !== undefined && { description: given.description }),
    ...(given.blockedBy !== undefined && { blockedBy: listOf(given.blockedBy) }),
    ...(given.priority && { priority: oneOf<Priority>("priority", given.priority, PRIORITIES) }),
    ...(given.labels !== undefined && { labels: listOf(given.labels) }),
    ...(given.status && { status: oneOf<TaskStatus>("status", given.status, TASK_STATUSES) }),
  };
}

/** `key=value`, `key+=value`, `key-=value` */
function pairs(words: string[], known: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const word of words) {
    const [, key = "", value = ""] = /^([A-Za-z]+[+-]?)=([\s\S]*)$/.exec(word) ?? [];
    if (!known.includes(key))
      throw usage(`${visible(word.slice(0, 40))}: give ${known.map((name) => `${name}=…`).join(", ")}`);
    found[key] = value;
  }
  return found;
}

const listOf = (text: string): string[] =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw usage(`${name} takes ${known.join(", ")}, not "${visible(value.slice(0, 40))}"`);
}

const line = ({ board }: Desk, task: Task): string => taskLine(task, { blockers: board.openBlockers(task) });

function say(desk: Desk, what: string, task: Task): void {
  desk.print(desk.flags.json ? `${JSON.stringify(task)}\n` : `${what} ${line(desk, task)}\n`);
}

function sayChanged(desk: Desk, { task, unblocked, stranded }: Changed): void {
  if (desk.flags.json) {
    desk.print(`${JSON.stringify({ task, unblocked, stranded })}\n`);
    return;
  }
  desk.print(`${line(desk, task)}\n`);
  if (unblocked.length > 0) desk.print(`unblocked: ${names(unblocked)}\n`);
  if (stranded.length > 0) desk.print(`still blocked by it: ${names(stranded)}\n`);
}
