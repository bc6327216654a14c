// Finding the programs that the harness itself runs: none that lies in a project, whatever the search path says.
import { accessSync, constants, realpathSync } from "node:fs";
import path from "node:path";

const SYSTEM = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** The user's search path without what lies in `avoid`, or was installed by a project: `npm run` and `npx` put those first. */
export function searchPath(avoid: string | undefined, value = process.env.PATH): string[] {
  const dirs = (value ?? "/usr/local/bin:/usr/bin:/bin").split(":").filter((dir) => path.isAbsolute(dir));
  const outside = (dir: string) => {
    if (/\/node_modules\/\.bin\/?$/.test(dir)) return false;
    return avoid === undefined || avoid === "/" || /^\.\.(?:\/|$)/.test(path.relative(avoid, dir));
  };
  return dirs.filter((dir) => outside(dir) && outside(realOr(dir)));
}

/** As the user would find it, but for what lies in `avoid`. */
export function findProgram(name: string, dirs: string[]): string | undefined {
  for (const dir of dirs) {
    const file = path.join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {} // not in this folder
  }
  return undefined;
}

/** One that every system has. */
export const systemProgram = (name: string): string => findProgram(name, [...SYSTEM, ...searchPath(undefined)]) ?? name;

function realOr(dir: string): string {
  try {
    return realpathSync.native(dir);
  } catch {
    return dir;
  }
}
