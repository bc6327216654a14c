// A folder that restores and drills work in, for as long as they run; and what those that were killed have left.
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "../ledger/guards.ts";

const OURS = /^holdfast-(?:restore|drill)-(\d+)-/;
const DAY_MS = 86_400_000;

/** Contract: removed afterwards, whatever happens; what cannot be removed goes another day. */
export async function inTemporaryFolder<T>(kind: "restore" | "drill", work: (dir: string) => Promise<T>): Promise<T> {
  sweepTemporary();
  const dir = fs.mkdtempSync(join(tmpdir(), `holdfast-${kind}-${process.pid}-`));
  try {
    return await work(dir);
  } finally {
    // What went wrong in the work is said, not that its folder could not be removed for the same reason.
    const patient = { maxRetries: 5, retryDelay: 20 }; // files are perhaps still being closed
    await fs.promises.rm(dir, { recursive: true, force: true, ...patient }).catch(() => undefined);
  }
}

/** What this user's killed processes left: a day old, and theirs is gone. */
export function sweepTemporary(now = Date.now()): void {
  const top = tmpdir();
  for (const name of namesIn(top)) {
    const pid = Number(OURS.exec(name)?.[1] ?? 0);
    if (pid === 0 || isRunning(pid)) continue;
    try {
      const stat = fs.lstatSync(join(top, name));
      if (!stat.isDirectory() || stat.uid !== process.getuid?.() || stat.mtimeMs > now - DAY_MS) continue;
      fs.rmSync(join(top, name), { recursive: true, force: true });
    } catch {
      // somebody else removes it, or it goes another day
    }
  }
}

function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir);
  } catch {
    return []; // whoever needs the folder is told
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== "ESRCH";
  }
}
