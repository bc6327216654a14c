// What a restore would take away: the paths that it would overwrite or remove, and when each came to be as it is now.
import fs from "node:fs";
import { atSystem, parentOf, type RawPath, rawOf, shownOf } from "./names.ts";
import { type RestorePlan, sameEntry } from "./plan.ts";
import type { Entries, Manifest, TreeEntry } from "./tree.ts";

export interface Losing {
  path: string;
  /** When it was last changed, in wall-clock milliseconds. */
  at: number;
  /** An empty folder: nothing of it can be lost. */
  folder?: true;
}

/** When a file of a checkpoint had been changed. `older`: before the time from which on the checkpoint tells; `unknown`: it tells of none. */
export interface ChangedAt {
  path: string;
  at: number | "older" | "unknown";
}

export interface LosingInput {
  root: string;
  plan: Pick<RestorePlan, "remove" | "write" | "modes">;
  mark: Entries;
  /** When the mark was made. */
  markedAt: number;
  now: Entries;
}

export function losingIn({ root, plan, mark, markedAt, now }: LosingInput): Losing[] {
  const full = new Set<RawPath>();
  for (const path of now.keys()) if (path !== "") full.add(parentOf(path));
  const content = new Set<string>();
  for (const entry of mark.values()) if (entry.kind !== "dir") content.add(contentOf(entry));

  const goes = new Set(plan.remove);
  const lost: Losing[] = [];
  for (const path of [...plan.remove, ...plan.write, ...plan.modes]) {
    const entry = now.get(path);
    if (!entry) continue; // the path is gone already: a restore overwrites nothing
    if (entry.kind === "dir") {
      // A folder goes with what is in it; an empty one stands for itself.
      const made = goes.has(path) && !full.has(path) ? changeOf(root, path) : undefined;
      if (made !== undefined) lost.push({ path: shownOf(path), at: made, folder: true });
      continue;
    }
    // A file that came with its folder keeps its old time. Where nothing of its content is lost, the time of the folder tells.
    const came =
      (entry.at ?? 0) < markedAt && content.has(contentOf(entry)) ? folderChange(root, path, mark) : undefined;
    lost.push({ path: shownOf(path), at: came ?? entry.at ?? Date.now() });
  }
  return lost;
}

const contentOf = ({ kind, oid }: TreeEntry): string => `${kind} ${oid}`;

/** The time of the outermost folder above it that the checkpoint does not have. */
function folderChange(root: string, path: RawPath, mark: Entries): number | undefined {
  let outermost: RawPath | undefined;
  for (let dir = parentOf(path); dir !== ""; dir = parentOf(dir)) if (mark.get(dir)?.kind !== "dir") outermost = dir;
  return outermost === undefined ? undefined : changeOf(root, outermost);
}

function changeOf(root: string, path: RawPath): number | undefined {
  return fs.lstatSync(atSystem(`${rawOf(root)}/${path}`), { throwIfNoEntry: false })?.ctimeMs;
}

/** Which of these paths are now exactly as the checkpoint has them. */
export function changedIn(
  mark: Entries,
  manifest: Manifest,
  { now, paths }: { now: Entries; paths: readonly string[] },
): ChangedAt[] {
  const wanted = new Set(paths);
  const found: ChangedAt[] = [];
  for (const [raw, there] of now) {
    const path = shownOf(raw);
    const then = wanted.has(path) ? mark.get(raw) : undefined;
    if (!then || !sameEntry(then, there)) continue;
    found.push({ path, at: then.at ?? (manifest.changed ? "older" : "unknown") });
  }
  return found;
}
