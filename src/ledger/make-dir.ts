// Making a folder with its parents. Node's own way tries for ever where a file system says that nothing can be there (/proc).
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./guards.ts";

/** Contract: ends, with the folder there or with the system's error; whoever else makes it meanwhile. */
export function makeDir(dir: string, mode = 0o700): void {
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if (errorCode(error) === "ENOENT" && dirname(dir) !== dir && !isThere(dirname(dir))) {
      makeDir(dirname(dir), mode);
      makeDir(dir, mode);
    } else if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
