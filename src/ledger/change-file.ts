// Changing a small file that several processes change: one at a time, and what was written is whole or not there.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { HoldfastError, messageOf } from "./error.ts";
import { makeDir } from "./make-dir.ts";

/** How long a writer waits for another one. */
const WAIT_MS = 10_000;
const LEFTOVER = /^\.[0-9]+-[0-9a-f]{12}\.tmp$/;

/**
 * `edit` is given what the file says now (undefined: it is not there) and returns what it is to say; undefined leaves it as it is.
 * Contract: durable when it resolves; nothing that another process wrote is lost; an error of `edit` comes back as it is.
 * The lock is SQLite's on an empty file beside it: the kernel takes it back from a process that is killed.
 */
export async function changeFile(file: string, edit: (text: string | undefined) => string | undefined): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const lockFile = `${file}.lock`;
  let lock: InstanceType<typeof DatabaseSync> | undefined;
  try {
    makeDir(path.dirname(file));
    fs.closeSync(fs.openSync(lockFile, "a", 0o600));
    lock = new DatabaseSync(lockFile, { timeout: WAIT_MS });
    lock.exec("BEGIN EXCLUSIVE");
    const text = edit(textIn(file));
    if (text === undefined) return;
    sweep(file);
    write(file, text);
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    const locked = error instanceof Error && "errcode" in error && error.errcode === 5;
    throw locked
      ? new HoldfastError("busy", `${lockFile} stayed locked: end the holdfast that holds it, and try again`)
      : new HoldfastError("disk", `${file} could not be written (${messageOf(error)}): it is as it was`, {
          cause: error,
        });
  } finally {
    lock?.close();
  }
}

function textIn(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** What killed writers left. Under the lock nobody else is writing. */
function sweep(file: string): void {
  const name = path.basename(file);
  for (const found of fs.readdirSync(path.dirname(file))) {
    if (found.startsWith(name) && LEFTOVER.test(found.slice(name.length)))
      fs.rmSync(path.join(path.dirname(file), found), { force: true });
  }
}

function write(file: string, text: string): void {
  const fresh = `${file}.${process.pid}-${randomBytes(6).toString("hex")}.tmp`;
  try {
    fs.writeFileSync(fresh, text, { mode: 0o600, flag: "wx", flush: true });
    fs.renameSync(fresh, file);
  } catch (error) {
    fs.rmSync(fresh, { force: true });
    throw error;
  }
  const folder = fs.openSync(path.dirname(file), "r");
  fs.fsyncSync(folder);
  fs.closeSync(folder);
}
