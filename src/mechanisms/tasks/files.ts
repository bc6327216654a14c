// `task_*.json` files: one a task, written whole or not at all, read with suspicion.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { explain } from "../../ledger/events.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import type { TaskFile } from "./decide-import.ts";
import { PRIORITIES, TASK_STATUSES, type Task } from "./port.ts";
import { short } from "./task-text.ts";

const FILE_BYTES = 256 * 1024;
const FILES = 20_000;
const HISTORY = 50;

const fileSchema = () =>
  z.object({
    id: z.union([z.string().min(1).max(200), z.int().transform((n) => `task_${n}`)]),
    subject: z.string(),
    description: z.string().default(""),
    status: z.enum(TASK_STATUSES).default("pending"),
    owner: z.string().nullish(),
    blockedBy: z.array(z.union([z.string(), z.int().transform((n) => `task_${n}`)])).default([]),
    worktree: z.string().max(4096).nullish(),
    priority: z.enum(PRIORITIES).default("normal"),
    labels: z.array(z.string()).default([]),
    history: z
      .array(z.object({ at: z.number(), by: z.string(), what: z.string(), note: z.string().optional() }))
      .default([]),
    createdAt: z.number().optional(),
  });

/** Contract: throws at the first file that is no task, by name. Links and other things are not followed. */
export async function readTaskFiles(dir: string): Promise<TaskFile[]> {
  const schema = fileSchema();
  const found = await readdir(dir).catch((error) => {
    throw new HoldfastError("not_found", `the tasks cannot be read: ${short(messageOf(error), 300)}`);
  });
  const names = found.filter((name) => /^task_.*\.json$/.test(name)).sort(numerically);
  if (names.length > FILES) throw new HoldfastError("limit", `${names.length} files of tasks, at most ${FILES}`);
  const files: TaskFile[] = [];
  for (const name of names) {
    const parsed = schema.safeParse(await readJson(join(dir, name), name));
    if (!parsed.success) throw new HoldfastError("invalid", `${short(name)} is no task: ${explain(parsed.error)}`);
    const { owner, worktree, history, ...task } = parsed.data;
    files.push({
      file: short(name),
      ...task,
      owner: owner ?? null,
      worktree: worktree ?? null,
      history: history.slice(-HISTORY),
    });
  }
  return files;
}

async function readJson(path: string, name: string): Promise<unknown> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const info = await file.stat();
      if (!info.isFile()) throw new Error("it is not a file");
      if (info.size > FILE_BYTES) throw new Error(`it has ${info.size} bytes, at most ${FILE_BYTES} are read`);
      return JSON.parse((await file.readFile()).toString("utf8"));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new HoldfastError(
      "invalid",
      `${short(name)} is no task: ${short(messageOf(error), 200)}; nothing was imported`,
    );
  }
}

/** Contract: files of other content are refused by name before any is written, unless `force`. */
export async function writeTaskFiles(
  dir: string,
  tasks: readonly Task[],
  opts: { force?: boolean } = {},
): Promise<string[]> {
  makeDir(dir, 0o777);
  const wanted = tasks.map((task) => ({ path: join(dir, `${fileName(task.id)}.json`), text: taskJson(task) }));
  const there = new Set(await readdir(dir));
  const changed: typeof wanted = [];
  for (const one of wanted) {
    const before = there.has(nameOf(one.path)) ? await readFile(one.path, "utf8").catch(() => "") : undefined;
    if (before === one.text) continue;
    if (before !== undefined && !opts.force)
      throw new HoldfastError("refused", `${nameOf(one.path)} is there with other content: use --force to replace it`);
    changed.push(one);
  }
  for (const { path, text } of changed) {
    const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
    try {
      await writeFile(temporary, text, { flag: "wx" });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw new HoldfastError("disk", `${nameOf(path)} could not be written: ${messageOf(error)}`);
    }
  }
  return wanted.map(({ path }) => path);
}

const taskJson = ({ unhostedAt: _, ...task }: Task): string => `${JSON.stringify(task, null, 2)}\n`;

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Ids of the house begin with `task_`; whatever else came in by an import must not name another folder. */
const fileName = (id: string): string =>
  /^task_[A-Za-z0-9_-]+$/.test(id) ? id : `task_${Buffer.from(id).toString("hex")}`;

const numerically = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });
