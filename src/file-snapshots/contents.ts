// What is in the files of a checkpoint: their content, by path, up to a length.
import { shownOf } from "./names.ts";
import { type ObjectStore, readFor } from "./objects.ts";
import type { Oid } from "./pack.ts";
import { readMark } from "./tree.ts";

export interface FileContent {
  kind: "file" | "link";
  mode: number;
  bytes: number;
  /** Missing: it is longer, or damaged. */
  content?: Uint8Array;
}

/** Of files that the mark holds; folders are left out. */
export async function contentsOf(
  mark: Oid,
  store: ObjectStore,
  { paths, maxBytes }: { paths: readonly string[]; maxBytes: number },
): Promise<Map<string, FileContent>> {
  const wanted = new Set(paths);
  const { entries } = await readMark(mark, store);
  const files = [...entries].flatMap(([raw, { kind, mode, oid }]) => {
    if (kind === "dir") return [];
    const path = shownOf(raw);
    return wanted.has(path) ? [{ path, kind, mode, oid }] : [];
  });
  const found = new Map<string, FileContent>();
  await readFor(store, files, ({ path, kind, mode }, content) => {
    const bytes = content?.length ?? 0;
    found.set(path, { kind, mode, bytes, ...(content && bytes <= maxBytes && { content }) });
  });
  return found;
}
