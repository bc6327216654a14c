// Where an open file really is, whatever path led to it: asked of the kernel through /proc. Linux only.
import { closeSync, openSync, readlinkSync } from "node:fs";

/** Holds an object without opening it, so that neither a pipe nor a device notices. */
export const O_PATH = 0o10000000;

/** A path that means this very object, here and in a child that is given the same number. */
export const byNumber = (fd: number): string => `/proc/self/fd/${fd}`;

/** Contract: only where `hasProc`. Of what was removed meanwhile it ends in ` (deleted)`. */
export const nameOf = (fd: number): string => readlinkSync(byNumber(fd));

export const looksDeleted = (name: string): boolean => name.endsWith(" (deleted)");

/** The real path of what is there; throws as `open` does. */
export function kernelPath(path: string): string {
  const fd = openSync(path, O_PATH);
  try {
    return nameOf(fd);
  } finally {
    closeSync(fd);
  }
}

let proc: boolean | undefined;

export function hasProc(): boolean {
  proc ??= process.platform === "linux" && namesRoot();
  return proc;
}

function namesRoot(): boolean {
  try {
    return kernelPath("/") === "/";
  } catch {
    return false;
  }
}
