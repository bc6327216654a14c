// Opening a path so that what was judged is what is used: the object is held first, then judged by the name the kernel has for it.
// A link swapped in between can only make the call fail. Without /proc: by comparing before and after, which narrows the moment but does not close it.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFile, readFileSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode } from "../ledger/guards.ts";
import { systemErrorText } from "../ledger/system-error.ts";
import { cutText } from "../text/cut.ts";
import { byNumber, hasProc, looksDeleted, nameOf, O_PATH } from "./kernel-names.ts";
import { printablePath, realPath } from "./paths.ts";
import { changing, demand, type Permit } from "./permit.ts";
import { refused } from "./refused.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const ATTEMPTS = 5;
/** Below this a synchronous read is faster than a round through the thread pool. */
const SYNC_BYTES = 256 << 10;

/** Something on disk that this process holds. Contract: close it. */
export interface OpenFile {
  fd: number;
  /** Where it was when it was judged. */
  real: string;
  stat: Stats;
  /** Whether `fd` only holds the object, and `/proc` names it. */
  viaProc: boolean;
}

export interface HoldOptions {
  /** As the model wrote it, for messages. */
  shown: string;
  writes?: boolean;
  /** The path is a real path already: anything else found there was put there since. */
  exact?: boolean;
  /** For tests of the other way. */
  viaProc?: boolean;
}

/** Contract: undefined when nothing is there; throws `refused` when it may not be touched. Follows links. */
export function hold(permit: Permit, path: string, opts: HoldOptions): OpenFile | undefined {
  const take = (opts.viaProc ?? hasProc()) ? holdByProc : holdByCompare;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const held = take(permit, path, opts);
      if (held) return held;
    } catch (error) {
      const code = errorCode(error);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw explained(error, opts.shown);
      return missing(permit, path, opts);
    }
  }
  throw changing(opts.shown);
}

/** What is not there is said only of places that may be looked at. */
function missing(permit: Permit, path: string, opts: HoldOptions): undefined {
  try {
    demand(permit, realPath(path), { shown: opts.shown, writes: opts.writes ?? false });
  } catch (error) {
    throw explained(error, opts.shown);
  }
}

export const release = (held: { fd: number }): void => closeSync(held.fd);

/** The content of a regular file that is held. */
export function readHeld(held: OpenFile, shown: string): Buffer {
  const fd = openHeld(held, shown);
  try {
    return readFileSync(fd);
  } finally {
    if (fd !== held.fd) closeSync(fd);
  }
}

export async function readHeldSoon(held: OpenFile, shown: string): Promise<Buffer> {
  if (held.stat.size <= SYNC_BYTES) return readHeld(held, shown);
  const fd = openHeld(held, shown);
  try {
    return await promisify(readFile)(fd);
  } finally {
    if (fd !== held.fd) closeSync(fd);
  }
}

/** A path that means this very object. */
export const pathOf = (held: OpenFile): string => (held.viaProc ? byNumber(held.fd) : held.real);

/** Undefined: it went away while we looked. */
function holdByProc(permit: Permit, path: string, opts: HoldOptions): OpenFile | undefined {
  const fd = openSync(path, opts.exact ? O_PATH | O_NOFOLLOW : O_PATH);
  try {
    const real = nameOf(fd);
    const stat = fstatSync(fd);
    if (looksDeleted(real) && isGone(real, stat)) {
      closeSync(fd);
      return undefined;
    }
    judge(permit, { path, real, stat }, opts);
    return { fd, real, stat, viaProc: true };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function holdByCompare(permit: Permit, path: string, opts: HoldOptions): OpenFile | undefined {
  const real = realPath(path);
  const before = lstatSync(real);
  judge(permit, { path, real, stat: before }, opts);
  if (!before.isFile() && !before.isDirectory()) throw notRegular(opts.shown);
  const fd = openSync(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    const after = realPath(path);
    if (after === real && isSame(stat, before) && isSame(stat, lstatSync(after))) {
      return { fd, real, stat, viaProc: false };
    }
    closeSync(fd);
    return undefined;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function judge(permit: Permit, at: { path: string; real: string; stat: Stats }, opts: HoldOptions): void {
  if (at.real.includes("\ufffd")) throw refused(`${printablePath(opts.shown)}: the name is not valid Unicode`);
  demand(permit, at.real, { shown: opts.shown, writes: opts.writes ?? false });
  if (opts.exact && (at.real !== at.path || at.stat.isSymbolicLink())) throw changing(opts.shown);
}

function openHeld(held: OpenFile, shown: string): number {
  if (!held.stat.isFile()) throw notRegular(shown);
  if (!held.viaProc) return held.fd;
  try {
    return openSync(byNumber(held.fd), O_RDONLY | O_NONBLOCK);
  } catch (error) {
    throw explained(error, shown);
  }
}

function isGone(real: string, stat: Stats): boolean {
  const there = lstatSync(real, { throwIfNoEntry: false });
  return !there || !isSame(there, stat);
}

export const isSame = (a: Stats, b: Stats): boolean => a.dev === b.dev && a.ino === b.ino;

export const notRegular = (shown: string) => refused(`${printablePath(shown)} is not a regular file`);

const SAID: Record<string, string> = {
  ENOTDIR: "goes through something that is not a directory",
  ELOOP: "leads through too many links",
  ENAMETOOLONG: "is too long a name",
  EACCES: "may not be opened: no permission",
  EPERM: "may not be opened: no permission",
};

const namesOurs = (error: unknown): boolean =>
  error instanceof Error && "path" in error && String(error.path).startsWith("/proc/self/fd/");

/** Errors of the system as one line for the model; never with a path of ours. */
export function explained(error: unknown, shown: string): unknown {
  const code = errorCode(error);
  const said = SAID[code ?? ""];
  if (said !== undefined) return refused(`${printablePath(cutText(shown, 200))} ${said}`);
  if (!namesOurs(error)) return error;
  const name = printablePath(cutText(shown, 200));
  return new HoldfastError("disk", systemErrorText(error, name) ?? `${name} cannot be used (${code})`);
}
