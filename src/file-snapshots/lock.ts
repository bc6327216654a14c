// The lock on the kept files: one process at a time adds or removes; a dead one's lock is taken over.

import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode } from "../ledger/guards.ts";
import { inspectHolder, monotonicMs, thisHolder, whereIs } from "../ledger/holder.ts";
import type { Holder } from "../ledger/store.ts";

/** Contract: `work` runs alone among all processes; `busy` when another live one keeps the lock longer than `waitMs`. */
export async function withLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const until = monotonicMs() + waitMs;
  const mine = JSON.stringify(thisHolder(false));
  for (let pause = 2; !take(file, mine); pause = Math.min(pause * 2, 50)) {
    if (monotonicMs() > until)
      throw new HoldfastError("busy", "another process is at work on the checkpoints of this project: try again");
    await sleep(pause);
  }
  try {
    return await work();
  } finally {
    if (readText(file) === mine) fs.rmSync(file, { force: true });
  }
}

/** The file appears with its content: a lock that cannot be read is never one that is being written. */
function take(file: string, mine: string): boolean {
  const fresh = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  fs.writeFileSync(fresh, mine, { mode: 0o600 });
  try {
    fs.linkSync(fresh, file);
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    const text = readText(file);
    if (text !== undefined && isDead(text)) setAside(file, text);
    return false;
  } finally {
    fs.unlinkSync(fresh);
  }
}

/** Whoever moves it away looks at what it moved: a live lock taken by mistake goes back. */
function setAside(file: string, dead: string): void {
  const aside = `${file}.${process.pid}.dead`;
  try {
    fs.renameSync(file, aside);
    if (readText(aside) !== dead) fs.linkSync(aside, file);
  } catch {} // another process was faster
  fs.rmSync(aside, { force: true });
}

function isDead(text: string): boolean {
  try {
    const holder = JSON.parse(text) as Holder;
    const where = whereIs(holder);
    return where === "gone" || (where === "here" && inspectHolder(holder) === undefined);
  } catch {
    return true;
  }
}

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
