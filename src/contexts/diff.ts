// What differs between two checkpoints, or between one and now: shared data by key, files by path, and what is in them where that is asked for.
import type { Seq } from "../ledger/store.ts";
import type { FileDiff, FileKeeper, FileMark, FileVersion } from "./file-keeper.ts";
import { type FoldState, presentAt, type SharedEntry } from "./fold.ts";
import type { Json } from "./values.ts";

export interface DataChange {
  key: string;
  before: number;
  after: number;
  /** What it was and is, where that was asked for and is not longer than asked for. */
  old?: Json;
  new?: Json;
}

/** Sizes in bytes. */
export interface DataDiff {
  added: DataChange[];
  changed: DataChange[];
  removed: DataChange[];
}

export interface Diff extends DataDiff {
  files?: FileDiff;
  /** Where it was asked for: both versions of the files that differ, in the order of `files`; at most the first 500. */
  contents?: { path: string; before?: FileVersion; after?: FileVersion }[];
}

export interface DiffOptions {
  /** Also what is in values and files, up to so many bytes each. */
  maxBytes?: number;
}

const MOST_CONTENTS = 500;

/** `undefined`: now. */
export function diffData(state: FoldState, from: Seq | undefined, to: Seq | undefined): DataDiff {
  const diff: DataDiff = { added: [], changed: [], removed: [] };
  const now = Date.now();
  for (const key of [...state.keys.keys()].sort()) {
    const a = presentAt(state, key, { position: from, now });
    const b = presentAt(state, key, { position: to, now });
    const change = { key, before: a?.bytes ?? 0, after: b?.bytes ?? 0 };
    if (!a && b) diff.added.push(change);
    else if (a && !b) diff.removed.push(change);
    else if (a && b && !same(a, b)) diff.changed.push(change);
  }
  return diff;
}

function same(a: SharedEntry, b: SharedEntry): boolean {
  return a.seq === b.seq || (a.op === "set" && b.op === "set" && a.hash === b.hash);
}

interface Values {
  from: Seq;
  to: Seq | undefined;
  maxBytes: number;
  read: (key: string, entry: SharedEntry) => Promise<Json>;
}

export async function addValues(diff: DataDiff, state: FoldState, { from, to, maxBytes, read }: Values): Promise<void> {
  const valueAt = async (key: string, position: Seq | undefined): Promise<Json | undefined> => {
    const entry = presentAt(state, key, { position, now: Date.now() });
    return entry && entry.bytes <= maxBytes ? read(key, entry) : undefined;
  };
  for (const change of [...diff.added, ...diff.changed, ...diff.removed]) {
    const [before, after] = [await valueAt(change.key, from), await valueAt(change.key, to)];
    Object.assign(change, before !== undefined && { old: before }, after !== undefined && { new: after });
  }
}

export async function diffFiles(
  keeper: FileKeeper,
  from: FileMark,
  to: FileMark | undefined,
  maxBytes: number | undefined,
): Promise<Pick<Diff, "files" | "contents">> {
  if (maxBytes === undefined || !keeper.contents) return { files: await keeper.diff(from, to) };
  // Kept as they are now, so that both sides are of one moment.
  const after = to ?? (await keeper.save({ whole: true }));
  const files = await keeper.diff(from, after);
  const paths = [...files.added, ...files.changed, ...files.removed].slice(0, MOST_CONTENTS);
  const [old, fresh] = [await keeper.contents(from, paths, maxBytes), await keeper.contents(after, paths, maxBytes)];
  const contents = paths.map((path) => {
    const before = old.get(path);
    const then = fresh.get(path);
    return { path, ...(before && { before }), ...(then && { after: then }) };
  });
  return { files, contents };
}
