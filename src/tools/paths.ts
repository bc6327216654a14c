// Owns how tools see paths: resolving what the model wrote, real paths of what may not exist yet, short display.
import { readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** Against the agent's directory; `~` is the home directory. */
export function resolvePath(cwd: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(cwd, path);
}

/** The real path; of what does not exist, the real path of its deepest existing parent and the rest as written. */
export function realPath(path: string): string {
  const missing: string[] = [];
  for (let at = path; ; ) {
    try {
      return join(realpathSync.native(at), ...missing);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      const link = danglingTarget(at);
      if (link !== undefined) {
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

/** By components: `/a/bc` is not inside `/a/b`. Contract: both are real paths. */
export function isInside(root: string, path: string): boolean {
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
