// What commands made and may not, and nobody could take away: their supervisor was killed, or the machine went down. At the next start it goes.
import { appendFileSync, cpSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { modifiedAt, namesIn } from "./job-dir.ts";
import { realOr } from "./mounts.ts";
import { isHeld } from "./process.ts";

/** How long after a command was last seen alive something may still be its work. */
const AFTER_MS = 10_000;

export interface LeftBehind {
  names: string[];
  /** Where it is kept. */
  dir: string;
}

/** Before the first command: what is missing now, and must not come to be. */
export function recordAbsent(dir: string, tag: string, absent: readonly string[]): void {
  if (absent.length > 0) writeFileSync(join(dir, `.absent${tag}`), JSON.stringify(absent), { mode: 0o600 });
}

/** A person let something else make it: the commands of that supervisor did not. */
export function spare(dir: string, tag: string, paths: readonly string[]): void {
  appendFileSync(join(dir, `.spared${tag}`), paths.map((path) => `${path}\n`).join(""), { mode: 0o600 });
}

/** Contract: what somebody made after the last command that could have is left alone. */
export function takeLeftBehind(dir: string): LeftBehind[] {
  const found = namesIn(dir).flatMap((name) => /^\.absent(.+)$/.exec(name)?.[1] ?? []);
  return found.flatMap((tag) => {
    const record = join(dir, `.absent${tag}`);
    const beat = join(dir, `.beat${tag}`);
    const until = Math.max(modifiedAt(record), modifiedAt(beat)) + AFTER_MS;
    const kept = join(dir, "..", "taken", `left${tag}`);
    const spared = join(dir, `.spared${tag}`);
    const left = absentIn(record).filter((path) => !linesIn(spared).includes(path));
    const names = left.filter((path) => madeBefore(path, until) && takeAway(path, kept));
    if (!isHeld(join(dir, `.done${tag}`))) for (const file of [record, beat, spared]) rmSync(file, { force: true });
    return names.length > 0 ? [{ names: names.map((path) => basename(path)), dir: kept }] : [];
  });
}

function absentIn(record: string): string[] {
  try {
    return JSON.parse(readFileSync(record, "utf8"));
  } catch {
    return []; // cut off by a crash: nothing ran yet
  }
}

function linesIn(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** Where no time of birth is kept, that of its last change. A folder that became a link since is not gone into. */
function madeBefore(path: string, until: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && realOr(dirname(path)) === dirname(path) && (stat.birthtimeMs || stat.ctimeMs) <= until;
}

function takeAway(path: string, kept: string): boolean {
  try {
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    const to = join(kept, basename(path));
    try {
      renameSync(path, to);
    } catch {
      cpSync(path, to, { recursive: true, verbatimSymlinks: true }); // another disk
      rmSync(path, { recursive: true, force: true });
    }
    return true;
  } catch {
    rmSync(path, { recursive: true, force: true }); // what cannot be kept goes all the same
    return true;
  }
}
