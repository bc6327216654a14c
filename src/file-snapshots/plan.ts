// What a restore would do: which paths differ, which of them are somebody else's, and what no checkpoint could bring back.
import { type IgnoreRules, isLeftOut } from "./ignore.ts";
import { isWithin, nameIn, parentOf, type RawPath } from "./names.ts";
import type { Entries, Manifest, TreeEntry } from "./tree.ts";

export interface Conflict {
  path: RawPath;
  why: string;
}

export interface RestorePlan {
  /** Files and links, then the folders they leave empty, deepest first. */
  remove: RawPath[];
  /** Folders, outermost first. */
  makeDirs: RawPath[];
  write: RawPath[];
  /** Files and folders of which only the mode differs. */
  modes: RawPath[];
  conflicts: Conflict[];
}

export interface PlanInput {
  mark: Entries;
  manifest: Manifest;
  now: Entries;
  expect?: Entries;
  rulesOfMark: (folder: RawPath) => IgnoreRules | undefined;
  wanted: (path: RawPath) => boolean;
  force: boolean;
}

/** Contract: a pure function of what it is given. Without `force` nothing is planned that would destroy what somebody else wrote since `expect`. */
export function planRestore(input: PlanInput): RestorePlan {
  const { mark, manifest, now, expect, wanted, force } = input;
  const plan: RestorePlan = { remove: [], makeDirs: [], write: [], modes: [], conflicts: [] };
  const blocked: RawPath[] = [];
  const foreign = (path: RawPath): boolean => {
    if (!expect || force || sameEntry(expect.get(path), now.get(path))) return false;
    plan.conflicts.push({ path, why: "changed by somebody else" });
    return true;
  };
  const leftThen = manifest.left.map(([path]) => path);
  // From the top down, so that what stands in the way of a whole folder is known first.
  for (const [path, there] of now) {
    const then = mark.get(path);
    if (
      path === "" ||
      !wanted(path) ||
      then?.kind === there.kind ||
      (then && then.kind !== "dir" && there.kind !== "dir")
    )
      continue;
    const isDir = there.kind === "dir";
    if (then === undefined) {
      // A partial checkpoint does not know what was not there; one that left a path out does not know its content.
      if (manifest.partial || leftThen.some((l) => isWithin(path, l))) continue;
      if (isLeftOut(input.rulesOfMark, path, isDir)) continue;
      if (isDir && expect && !force && !expect.has(path)) continue; // a folder of somebody else's, maybe empty
    }
    if (!isDir && foreign(path)) blocked.push(path);
    else plan.remove.push(path);
  }
  plan.remove.reverse();
  for (const [path, then] of mark) {
    if (!wanted(path)) continue;
    const there = now.get(path);
    if (sameEntry(then, there) || blocked.some((b) => isWithin(path, b))) continue;
    if (then.kind === "dir") {
      if (there?.kind === "dir") {
        if (!expect || force || sameEntry(expect.get(path), there)) plan.modes.push(path);
      } else plan.makeDirs.push(path);
      continue;
    }
    if (foreign(path)) continue;
    const modeOnly = there?.kind === "file" && then.kind === "file" && there.oid === then.oid;
    (modeOnly ? plan.modes : plan.write).push(path);
  }
  return plan;
}

export function sameEntry(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.kind === b?.kind && a?.mode === b?.mode && a?.oid === b?.oid;
}

export interface FileChange {
  path: RawPath;
  kind: "added" | "changed" | "removed" | "mode";
}

/** Folders count when they are empty or only their mode changed. */
export function compare(a: Entries, b: Entries): FileChange[] {
  const changes: FileChange[] = [];
  const full = new Set<RawPath>();
  for (const entries of [a, b]) for (const path of entries.keys()) if (path !== "") full.add(parentOf(path));
  const counts = (path: RawPath, entry: TreeEntry) => entry.kind !== "dir" || !full.has(path);
  for (const [path, before] of a) {
    const after = b.get(path);
    if (!after) {
      if (counts(path, before)) changes.push({ path, kind: "removed" });
    } else if (before.kind !== after.kind || before.oid !== after.oid) changes.push({ path, kind: "changed" });
    else if (before.mode !== after.mode) changes.push({ path, kind: "mode" });
  }
  for (const [path, after] of b) if (!a.has(path) && counts(path, after)) changes.push({ path, kind: "added" });
  return changes.sort((x, y) => (x.path < y.path ? -1 : x.path > y.path ? 1 : 0));
}

/** The folders of `.gitignore` files that a mark holds, with their objects. */
export function ignoreFilesIn(mark: Entries): { folder: RawPath; oid: string }[] {
  return [...mark]
    .filter(([path, entry]) => entry.kind === "file" && nameIn(path) === ".gitignore")
    .map(([path, entry]) => ({ folder: parentOf(path), oid: entry.oid }));
}
