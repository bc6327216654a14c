// What may be believed of a search: ripgrep opens names, and a folder may be swapped for a link while it runs.
import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { allows, type Permit } from "./permit.ts";
import { hold, type OpenFile, pathOf, release } from "./safe-open.ts";

/** A change this close before the search counts as during it: clocks of file systems tick coarsely. */
const SLACK_MS = 50;

/** Contract: sorts in place. */
export function newestFirst(dir: OpenFile, files: string[]): string[] {
  const base = pathOf(dir);
  const at = new Map(files.map((f) => [f, statSync(`${base}/${f}`, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  return files.sort((a, b) => (at.get(b) ?? 0) - (at.get(a) ?? 0) || (a < b ? -1 : 1));
}

/** The first `most` of these names that are really there, without a link on the way, and may be seen. */
export function whereFound(
  permit: Permit,
  dir: OpenFile,
  files: string[],
  opts: { most: number; began: number },
): string[] {
  const out: string[] = [];
  const settled = unchangedSince(permit, dir, files.slice(0, opts.most), opts.began);
  for (const file of files) {
    if (out.length >= opts.most) break;
    if (settled.has(file) || isThere(permit, dir, file)) out.push(file);
  }
  return out;
}

function isThere(permit: Permit, dir: OpenFile, file: string): boolean {
  const held = holdFound(permit, dir, file);
  if (held) release(held);
  return held !== undefined;
}

/** A regular file that was found, held as the search must have seen it; undefined when it is something else by now. */
export function holdFound(permit: Permit, dir: OpenFile, file: string): OpenFile | undefined {
  try {
    const held = hold(permit, join(dir.real, file), { shown: file, exact: true });
    if (!held || held.stat.isFile()) return held;
    release(held);
    return undefined;
  } catch {
    return undefined;
  }
}

/**
 * Those of the files whose folders, up to the searched one, nobody changed since the search began: what was read there is what is there.
 * Swapping an entry changes its folder's ctime, which no one can set back. Deepest first: an unchanged parent vouches for what was looked at before it.
 */
export function unchangedSince(permit: Permit, dir: OpenFile, files: string[], began: number): Set<string> {
  const folders = new Set<string>(["."]);
  for (const file of files) for (let at = dirname(file); at !== "."; at = dirname(at)) folders.add(at);
  const quiet = new Map<string, boolean>();
  for (const folder of [...folders].sort((a, b) => depth(b) - depth(a))) {
    quiet.set(folder, isQuiet(statOf(dir, folder), began - SLACK_MS));
  }
  const isSettled = (file: string): boolean => {
    for (let at = dirname(file); ; at = dirname(at)) {
      if (!quiet.get(at)) return false;
      if (at === ".") return allows(permit, join(dir.real, file));
    }
  };
  return new Set(files.filter(isSettled));
}

const depth = (folder: string): number => (folder === "." ? 0 : folder.split("/").length);

function statOf(dir: OpenFile, folder: string): Stats | undefined {
  try {
    return folder === "." ? statSync(pathOf(dir)) : lstatSync(`${pathOf(dir)}/${folder}`, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const isQuiet = (stat: Stats | undefined, since: number): boolean =>
  stat?.isDirectory() === true && stat.ctimeMs < since;
