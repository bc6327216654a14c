// Taking turns at one name: among processes, and with a git that a killed process left at work.

import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { HoldfastError } from "../../ledger/error.ts";
import { errorCode } from "../../ledger/guards.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { systemProgram } from "../../ledger/programs.ts";

const LOOK_MS = 15;
/** A checkout of a large repository takes its time. */
const GIVE_UP_MS = 120_000;

export interface TurnOptions {
  /** Holds the worktrees. */
  dir: string;
  name: string;
}

/** What everything that is started meanwhile inherits: as long as it is open somewhere, somebody is at work. */
export interface HeldTurn {
  descriptor: number;
}

/**
 * Contract: nobody else is at work at that name, in no process; not even a git whose harness is dead. The lock is SQLite's on an empty
 * file: the kernel takes it back from a killed process. It is not inherited, so a pipe tells of children: it can be opened for writing
 * only while someone has it open for reading.
 */
export async function inTurn<T>(opts: TurnOptions, work: (held: HeldTurn) => Promise<T>): Promise<T> {
  return afterOthers(opts, async (pipe) => {
    await promisify(execFile)(systemProgram("mkfifo"), ["-m", "600", pipe]).catch((error: unknown) => {
      throw new HoldfastError("disk", `${pipe} could not be made: look at the folder`, { cause: error });
    });
    const descriptor = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await work({ descriptor });
    } finally {
      closeSync(descriptor);
      rmSync(pipe, { force: true });
    }
  });
}

/** The same for who only looks. */
export async function afterOthers<T>({ dir, name }: TurnOptions, look: (pipe: string) => Promise<T>): Promise<T> {
  const locks = join(dir, ".locks");
  makeDir(locks);
  const lock = await take(join(locks, name));
  try {
    const pipe = join(locks, `${name}.busy`);
    await untilIdle(pipe, name);
    return await look(pipe);
  } finally {
    lock.close();
  }
}

/**
 * Never waits inside SQLite: whoever holds it may be another call of this very process. Nor is the file opened in any other way here:
 * closing it would let go of that call's lock.
 */
async function take(file: string): Promise<{ close(): void }> {
  const { DatabaseSync } = await import("node:sqlite");
  for (const from = Date.now(); ; await sleep(LOOK_MS)) {
    const lock = new DatabaseSync(file, { timeout: 0 });
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== 5) throw error;
      if (Date.now() - from > GIVE_UP_MS)
        throw new HoldfastError("busy", `${file} stayed locked: another holdfast is at work there; try again later`);
    }
  }
}

async function untilIdle(pipe: string, name: string): Promise<void> {
  for (const from = Date.now(); hasReader(pipe); await sleep(LOOK_MS)) {
    if (Date.now() - from > GIVE_UP_MS)
      throw new HoldfastError("busy", `git is still at work for the worktree ${name}: try again when it has ended`);
  }
  rmSync(pipe, { force: true });
}

function hasReader(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENXIO" || code === "ENOENT") return false;
    throw error;
  }
}
