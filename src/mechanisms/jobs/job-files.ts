// Looking at a file of a job that may not be there.
import { lstatSync, readFileSync, readlinkSync } from "node:fs";

export function readText(path: string): string | undefined {
  return readBytes(path)?.toString("utf8");
}

/** Most of what is asked for is missing, and an error costs more than a look. */
export function readBytes(path: string): Buffer | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** What a link says; undefined for anything else. */
export function linkOf(path: string): string | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
