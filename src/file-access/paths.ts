// How tools see paths: resolving what the model wrote, real paths of what may not exist yet, short display.
import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { errorCode } from "../ledger/guards.ts";
import { hasProc, kernelPath, looksDeleted } from "./kernel-names.ts";
import { refused } from "./refused.ts";

/** Control characters, line separators, and what turns the direction of text: a name with them is not what it looks like. */
const MISLEADING = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL_MISLEADING = new RegExp(MISLEADING, "g");

/** Against the agent's directory; `~` is the home directory, unless something there is really named so. Throws `refused` for a name that misleads. */
export function resolvePath(cwd: string, path: string): string {
  checkName(path);
  const isHome = (path === "~" || path.startsWith("~/")) && !existsSync(`${cwd}/${path.slice(0, 2)}`); // `~/` only as a directory
  if (isHome) return join(homedir(), path.slice(1));
  return resolve(cwd, path);
}

/** Contract: throws `refused`, the name shown escaped. */
export function checkName(path: string): void {
  if (MISLEADING.test(path)) throw refused(`${printablePath(path)}: a name with control characters is not opened`);
  if (!path.isWellFormed()) throw refused(`${printablePath(path)}: the name is not valid Unicode`);
}

/** What may be shown to anyone: characters that mislead as `\u001b`. */
export const printablePath = (text: string): string =>
  text.replace(ALL_MISLEADING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).toWellFormed();

/** The real path; of what does not exist, the real path of its deepest existing parent and the rest as written. */
export function realPath(path: string): string {
  const missing: string[] = [];
  let links = 0;
  for (let at = path; ; ) {
    try {
      return join(existingPath(at), ...missing);
    } catch (error) {
      const code = errorCode(error);
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      const link = danglingTarget(at);
      if (link !== undefined) {
        if (++links > 40) throw refused(`${printablePath(path)} leads through too many links`);
        at = link;
        continue;
      }
      const parent = dirname(at);
      if (parent === at) return join(at, ...missing);
      missing.unshift(basename(at));
      at = parent;
    }
  }
}

/** By the kernel's own name where it tells: the same that an open file is judged by, also where case does not count. */
function existingPath(path: string): string {
  const real = hasProc() ? kernelPath(path) : realpathSync.native(path);
  return looksDeleted(real) ? realpathSync.native(path) : real;
}

/** By components: `/a/bc` is not inside `/a/b`. Contract: both are real paths. */
export function isInside(root: string, path: string): boolean {
  if (path.startsWith(`${root}/`) && !path.includes("/..")) return true; // the usual case, without taking it apart
  const way = relative(root, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Relative where that is shorter to read: inside the directory. */
export function displayPath(cwd: string, path: string): string {
  return isInside(cwd, path) ? relative(cwd, path) || "." : path;
}

/** A link that points at nothing yet: writing through it would write there. */
function danglingTarget(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
