// The bridge between checkpoints and the files of a project: one keeper in the shape that contexts know.

import type { SnapshotMark as KeptMark } from "../file-snapshots/index.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { FileKeeper, FileMark, FileReport } from "./file-keeper.ts";

/** Contract: of the marks that a context records for its keeper, there are none but those that `save` gave. */
const asKept = (mark: FileMark): KeptMark => mark as FileMark & KeptMark;

export interface ProjectFilesOptions {
  root: string;
  dir: string;
  /** Whether a folder is the project's: asked of paths that stand in a store to which other machines write. */
  isOwn?: ((folder: string) => boolean) | undefined;
}

/** Contract: `dir` is private to the project's state. Nothing is opened before it is needed; `refused` where the root is not the project's. */
export function projectFiles({ root, dir, isOwn = () => true }: ProjectFilesOptions): FileKeeper {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => {
    if (!isOwn(root)) throw notOwn(root);
    return (await import("../file-snapshots/index.ts")).openFileKeeper({ root, dir });
  };
  const keeper = () => {
    opened ??= open();
    return opened;
  };
  return {
    save: async (options) => ({ ...(await (await keeper()).save(options)) }),
    async restore(mark, { keep = [], expect }): Promise<FileReport> {
      // What a partial mark does not name may have been there.
      const known = !expect || expect.partial ? undefined : asKept(expect);
      const done = await (await keeper()).restore(asKept(mark), { keep, expect: known });
      return {
        written: done.changed.length + done.created.length,
        deleted: done.removed.length,
        skipped: [...done.conflicts, ...done.left].map(({ path, why }) => ({ path, reason: why })),
      };
    },
    wouldLose: async (mark) => (await keeper()).wouldLose(asKept(mark)),
    changedAt: async (mark, paths) => (await keeper()).changedAt(asKept(mark), paths),
    async diff(a, b) {
      const files = await keeper();
      const from = a ? asKept(a) : await files.save();
      const changes = await files.diff(from, b ? asKept(b) : "now");
      const of = (...kinds: string[]) => changes.filter((c) => kinds.includes(c.kind)).map((c) => c.path);
      return { added: of("added"), changed: of("changed", "mode"), removed: of("removed") };
    },
    contents: async (mark, paths, maxBytes) => (await keeper()).contents(asKept(mark), paths, maxBytes),
  };
}

const notOwn = (root: string): HoldfastError =>
  new HoldfastError(
    "refused",
    `the context names ${root}, which is no folder of this project on this machine: no files are read or changed there`,
  );
