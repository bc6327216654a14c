// What git keeps of one worktree in the repository: where that is, and the lock that says whose it is and how far it got.
import { lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { gitText } from "./repository.ts";

/**
 * Every worktree of ours is locked, so that `git worktree prune` (in a sandbox that does not see it, or by a gc) leaves it alone; the
 * reason of the lock is what we have to say of it, for `git worktree list --verbose` and for ourselves.
 */
export interface Registered {
  /** `.git/worktrees/…` */
  admin: string;
  /** Undefined: not locked. */
  lock?: Lock;
}

export type Lock = { ours: true; phase: Phase; mark: string; note: string } | { ours: false; reason: string };
const PHASES = ["being made", "in use", "kept for review"] as const;
type Phase = (typeof PHASES)[number];

const REASON = /^holdfast: ([a-z ]+) \(([^)]*)\)(?:: ([\s\S]*))?$/;

export const reasonOf = (phase: Phase, mark: string, note = ""): string =>
  `holdfast: ${phase} (${mark})${note === "" ? "" : `: ${note}`}`;

/** What git knows by that path, if anything. */
export function findRegistered(common: string, path: string): Registered | undefined {
  for (const id of registeredNames(join(common, "worktrees"))) {
    const admin = join(common, "worktrees", id);
    const pointer = gitText(join(admin, "gitdir"));
    if (pointer === undefined || resolve(admin, pointer) !== join(path, ".git")) continue;
    const reason = gitText(join(admin, "locked"));
    return { admin, ...(reason === undefined ? {} : { lock: readLock(reason) }) };
  }
  return undefined;
}

function readLock(reason: string): Lock {
  const [, said, mark = "", note = ""] = REASON.exec(reason) ?? [];
  const phase = PHASES.find((one) => one === said);
  return phase === undefined ? { ours: false, reason } : { ours: true, phase, mark, note };
}

/** In one step: it is never unlocked in between. */
export function writeLock(admin: string, reason: string): void {
  const fresh = join(admin, `locked.${process.pid}`);
  writeFileSync(fresh, `${reason}\n`, { flush: true });
  renameSync(fresh, join(admin, "locked"));
}

/** What a git that is dead left of its own. Contract: called when nobody is at work there. `index`: nobody has worked with it yet. */
export function dropLeftovers(admin: string, { index }: { index: boolean }): void {
  for (const name of ["index.lock", "HEAD.lock", ...(index ? ["index"] : [])])
    rmSync(join(admin, name), { force: true });
}

/** Contract: throws `refused` unless what lies there is the tree that git means. */
export function checkInPlace(path: string, admin: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) throw refused(`${path} is gone, but git still knows it as a worktree: see \`git worktree list\``);
  const pointer = stat.isDirectory() ? /^gitdir: (.+)$/.exec(gitText(join(path, ".git")) ?? "")?.[1] : undefined;
  if (pointer === undefined || resolve(path, pointer) !== admin)
    throw refused(
      `${path} is not the worktree that was made there: somebody replaced it; look at it, nothing is touched`,
    );
}

export const isRegistered = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

export function registeredNames(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}
