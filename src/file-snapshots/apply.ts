// Changing the root: one path at a time, whole or not at all, never through a link, never into a repository's own state.
import fs from "node:fs";
import { crashPoint } from "../ledger/crash-point.ts";
import { errorCode } from "../ledger/guards.ts";
import { type Folder, openFolder } from "./folder.ts";
import { atSystem, isGitName, isTemporary, nameIn, parentOf, type RawPath, temporaryName } from "./names.ts";
import { type ObjectStore, readFor } from "./objects.ts";
import type { Conflict, RestorePlan } from "./plan.ts";
import { thisReader } from "./reader.ts";
import type { Entries, TreeEntry } from "./tree.ts";

export interface Applied {
  changed: RawPath[];
  removed: RawPath[];
  created: RawPath[];
  conflicts: Conflict[];
  left: Conflict[];
}

export interface ApplyOptions {
  root: RawPath;
  mark: Entries;
  now: Entries;
  store: ObjectStore;
  force: boolean;
  dryRun: boolean;
}

const UNKEPT = "no checkpoint holds what is there now: move it away first";
const JUST_CHANGED = "changed at this moment";

/** Contract: what cannot be done is named and the rest goes on. Running it again finishes what a kill cut off. */
export async function applyPlan(plan: RestorePlan, opts: ApplyOptions): Promise<Applied> {
  const done: Applied = { changed: [], removed: [], created: [], conflicts: plan.conflicts, left: [] };
  const hands = openHands(opts.root, opts.dryRun);
  const attempt = (path: RawPath, work: () => void) => {
    try {
      work();
    } catch (error) {
      done.left.push({ path, why: reasonOf(error) });
    }
  };
  try {
    for (const path of plan.remove) attempt(path, () => removeOne(path, opts, hands, done));
    for (const [path, { mode }] of planned(plan.makeDirs, opts.mark))
      attempt(path, () => makeFolder({ path, mode }, opts, hands, done));
    await writeAll(plan.write, opts, hands, done, attempt);
    for (const [path, { mode, kind }] of planned(plan.modes, opts.mark)) {
      attempt(path, () => {
        if (kind === "dir") hands.laterMode(path, mode);
        else if (!opts.dryRun) {
          const at = hands.folder(parentOf(path)).at(nameIn(path));
          if (!isAsSeen(path, at, opts, done)) return;
          setMode(at, mode);
        }
        done.changed.push(path);
      });
    }
  } finally {
    hands.close((path, error) => done.left.push({ path, why: reasonOf(error) }));
  }
  return done;
}

/** With what the mark has there. */
function planned(paths: readonly RawPath[], mark: Entries): [RawPath, TreeEntry][] {
  return paths.flatMap((path): [RawPath, TreeEntry][] => {
    const then = mark.get(path);
    return then ? [[path, then]] : [];
  });
}

interface Hands {
  /** The folder, held until another is asked for; made writable for the time of the restore. */
  folder(path: RawPath): Folder;
  /** Modes of folders come last: one without write permission must not stand in the way of its own content. */
  laterMode(path: RawPath, mode: number): void;
  close(failed: (path: RawPath, error: unknown) => void): void;
}

function openHands(root: RawPath, dryRun: boolean): Hands {
  let held: { path: RawPath; folder: Folder } | undefined;
  const modes = new Map<RawPath, number>();
  const let_go = () => {
    held?.folder.close();
    held = undefined;
  };
  return {
    folder(path) {
      if (held?.path === path) return held.folder;
      let_go();
      const folder = openFolder(root, path);
      held = { path, folder };
      const mode = fs.fstatSync(folder.fd).mode & 0o7777;
      if (!dryRun && (mode & 0o300) !== 0o300) {
        if (!modes.has(path)) modes.set(path, mode);
        fs.fchmodSync(folder.fd, mode | 0o300);
      }
      for (const name of fs.readdirSync(folder.at("."), { encoding: "latin1" }))
        if (!dryRun && isTemporary(name)) fs.rmSync(folder.at(name), { force: true });
      return folder;
    },
    laterMode: (path, mode) => void modes.set(path, mode),
    close(failed) {
      let_go();
      if (dryRun) return;
      for (const [path, mode] of [...modes].sort((a, b) => (a[0] < b[0] ? 1 : -1))) {
        try {
          const folder = openFolder(root, path);
          fs.fchmodSync(folder.fd, mode);
          folder.close();
        } catch (error) {
          if (errorCode(error) !== "ENOENT") failed(path, error);
        }
      }
    },
  };
}

function removeOne(path: RawPath, opts: ApplyOptions, hands: Hands, done: Applied): void {
  const kind = opts.now.get(path)?.kind;
  const replaced = opts.mark.has(path);
  if (opts.dryRun) {
    if (!replaced) done.removed.push(path);
    return;
  }
  const at = hands.folder(parentOf(path)).at(nameIn(path));
  if (!isAsSeen(path, at, opts, done)) return;
  try {
    if (kind === "dir") fs.rmdirSync(at);
    else fs.unlinkSync(at);
  } catch (error) {
    const code = errorCode(error);
    // A folder stays for what is in it and is nobody's to remove: ignored files, a repository.
    if (code === "ENOENT" || (!replaced && (code === "ENOTEMPTY" || code === "EEXIST"))) return;
    throw error;
  }
  if (!replaced) done.removed.push(path);
}

function makeFolder(
  { path, mode }: { path: RawPath; mode: number },
  opts: ApplyOptions,
  hands: Hands,
  done: Applied,
): void {
  const there = opts.now.get(path);
  if (opts.dryRun) {
    (there ? done.changed : done.created).push(path);
    return;
  }
  const folder = hands.folder(parentOf(path));
  try {
    fs.mkdirSync(folder.at(nameIn(path)), 0o700);
    (there ? done.changed : done.created).push(path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    if (!fs.lstatSync(folder.at(nameIn(path))).isDirectory()) {
      done.conflicts.push({ path, why: UNKEPT });
      return;
    }
  }
  hands.laterMode(path, mode);
}

async function writeAll(
  paths: RawPath[],
  opts: ApplyOptions,
  hands: Hands,
  done: Applied,
  attempt: (path: RawPath, work: () => void) => void,
): Promise<void> {
  const writes = planned(paths, opts.mark).map(([path, then]) => ({ path, then, oid: then.oid }));
  await readFor(opts.store, writes, ({ path, then }, content) => {
    if (!content) return void done.left.push({ path, why: "its content is gone from the checkpoint" });
    attempt(path, () => {
      if (opts.dryRun) {
        if (mayReplace(path, then, opts, () => atSystem(`${opts.root}/${path}`), done)) noted(path, opts, done);
        return;
      }
      const folder = hands.folder(parentOf(path));
      if (!isAsSeen(path, folder.at(nameIn(path)), opts, done)) return;
      if (!mayReplace(path, then, opts, () => folder.at(nameIn(path)), done)) return;
      writeOne(folder, nameIn(path), then, content);
      crashPoint("files.restored");
      noted(path, opts, done);
    });
  });
}

const noted = (path: RawPath, opts: ApplyOptions, done: Applied) =>
  (opts.now.has(path) ? done.changed : done.created).push(path);

/** Somebody may write while this goes on: what is not as it was looked at a moment ago stays. */
function isAsSeen(path: RawPath, at: string | Buffer, opts: ApplyOptions, done: Applied): boolean {
  const seen = opts.now.get(path)?.ctimeMs;
  const stat = seen === undefined || opts.force ? undefined : fs.lstatSync(at, { throwIfNoEntry: false });
  // Another name of the same file may just have been taken away.
  if (!stat || stat.ctimeMs === seen || stat.nlink > 1) return true;
  done.conflicts.push({ path, why: JUST_CHANGED });
  return false;
}

/** What lies there is known to the look of just now, or nothing lies there, or it is the same, or the caller insists. */
function mayReplace(
  path: RawPath,
  then: TreeEntry,
  opts: ApplyOptions,
  at: () => string | Buffer,
  done: Applied,
): boolean {
  if (isGitName(nameIn(path))) return false;
  if (opts.now.has(path) || opts.force) return true;
  let stat: fs.Stats | undefined;
  try {
    stat = fs.lstatSync(at(), { throwIfNoEntry: false });
  } catch {
    return true; // a folder above is not there yet
  }
  if (!stat) return true;
  if (then.kind === "file" && stat.isFile() && stat.size < 1 << 28) {
    if (thisReader().readOne(at(), 1 << 28)?.oid === then.oid) return (stat.mode & 0o777) !== then.mode;
  }
  done.conflicts.push({ path, why: UNKEPT });
  return false;
}

function writeOne(folder: Folder, name: RawPath, then: TreeEntry, content: Buffer): void {
  const fresh = folder.at(temporaryName());
  try {
    if (then.kind === "link") fs.symlinkSync(content, fresh);
    else {
      const fd = fs.openSync(fresh, "wx", 0o600);
      try {
        fs.writeFileSync(fd, content);
        fs.fchmodSync(fd, then.mode);
      } finally {
        fs.closeSync(fd);
      }
    }
    fs.renameSync(fresh, folder.at(name));
  } catch (error) {
    fs.rmSync(fresh, { force: true });
    throw error;
  }
}

/** Not through a link: the file is opened first. One that may not be opened is its owner's, and gets its mode by name. */
function setMode(file: string | Buffer, mode: number): void {
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    fs.fchmodSync(fd, mode);
    fs.closeSync(fd);
  } catch (error) {
    if (errorCode(error) !== "EACCES" || fs.lstatSync(file).isSymbolicLink()) throw error;
    fs.chmodSync(file, mode);
  }
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === "refused" || code === "ELOOP") return "a link lies on the way";
  if (code === "ENOTEMPTY" || code === "EEXIST" || code === "EISDIR")
    return "a folder with other content is in its place";
  if (code === "EACCES" || code === "EPERM") return "may not be written";
  return code ?? (error instanceof Error ? error.message : String(error));
}
