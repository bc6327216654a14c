// The files of checkpoints: keeping them, comparing, bringing them back. The user's repository is read, never run and never touched.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { crashPoint } from "../ledger/crash-point.ts";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode } from "../ledger/guards.ts";
import { monotonicMs } from "../ledger/holder.ts";
import { makeDir } from "../ledger/make-dir.ts";
import { type Applied, applyPlan } from "./apply.ts";
import { contentsOf, type FileContent } from "./contents.ts";
import { rulesByFolder } from "./ignore.ts";
import { withLock } from "./lock.ts";
import { openLooker } from "./look.ts";
import { type ChangedAt, changedIn, type Losing, losingIn } from "./losing.ts";
import { isWithin, type RawPath, rawOf, shownOf } from "./names.ts";
import { openObjects, readFor } from "./objects.ts";
import type { Oid } from "./pack.ts";
import { compare, ignoreFilesIn, planRestore } from "./plan.ts";
import { chainOf, findRepository } from "./repository.ts";
import {
  changedSince,
  countUp,
  type Entries,
  entriesOf,
  leftOf,
  type Manifest,
  readMark,
  writeMark,
  writeTree,
} from "./tree.ts";
import { needsUpkeep, throwAway, upkeep } from "./upkeep.ts";

/** The files of one checkpoint. JSON, and small whatever the size of the project. */
export interface SnapshotMark {
  id: string;
  files: number;
  bytes: number;
  /** What was left out; the first fifty. */
  left: PathNote[];
  /** It ran out of time: files that it does not name may have been there. */
  partial: boolean;
  /** When it was made; older versions did not say. */
  at?: number;
  ms: number;
}

export interface SaveOptions {
  signal?: AbortSignal;
  /** The mark also holds when each file was last changed, of those that were since then (wall-clock milliseconds). */
  since?: number;
  /** However long it takes. */
  whole?: boolean;
}

export interface PathNote {
  path: string;
  why: string;
}

export interface RestoreFilesOptions {
  /** Only these files and folders, relative to the root. */
  paths?: string[];
  dryRun?: boolean;
  /** Also what `conflicts` would name. */
  force?: boolean;
  /** The last state that the agent knows: what differs from it by now was changed by somebody else. */
  expect?: SnapshotMark;
  /** Paths that stay as they are, as a result shows them. */
  keep?: string[];
}

export interface Restored {
  changed: string[];
  removed: string[];
  created: string[];
  /** Not touched: somebody else changed it, or no checkpoint holds what is there now. */
  conflicts: PathNote[];
  /** Not done, with the reason. */
  left: PathNote[];
}

export interface SnapshotKeeper {
  /** Contract: resolves within the budget plus one step; saves queue. */
  save(opts?: SaveOptions): Promise<SnapshotMark>;
  /** Contract: only paths that differ are touched. The caller has made a checkpoint of now. */
  restore(mark: SnapshotMark, opts?: RestoreFilesOptions): Promise<Restored>;
  /** What that restore would overwrite or remove, with the time of its last change. */
  wouldLose(mark: SnapshotMark): Promise<Losing[]>;
  /** Of these paths, those that are now as in the mark, and when they had been changed then. */
  changedAt(mark: SnapshotMark, paths: readonly string[]): Promise<ChangedAt[]>;
  /** Of files that the mark holds; folders are left out. */
  contents(mark: SnapshotMark, paths: readonly string[], maxBytes: number): Promise<Map<string, FileContent>>;
  diff(
    a: SnapshotMark,
    b: SnapshotMark | "now",
  ): Promise<{ path: string; kind: "added" | "changed" | "removed" | "mode" }[]>;
  /** Removes what neither these marks need nor any of the last minutes. Contract: fewer objects or the same, never a needed one. */
  collect(keep: SnapshotMark[]): Promise<{ freed: number; objects: number }>;
  /** Reads everything a mark needs and hashes it. */
  verify(mark: SnapshotMark): Promise<{ ok: boolean; objects: number; bad: PathNote[] }>;
  /** What runs behind saves has ended: every mark stands alone. */
  settled(): Promise<void>;
}

export interface FileLimits {
  maxFileBytes?: number;
  /** Of one save. */
  budgetMs?: number;
  /** The longest time that others wait for this. */
  sliceMs?: number;
  /** Marks this young are kept by `collect` without being named. */
  graceMs?: number;
  lockMs?: number;
}

const SHOWN_LEFT = 50;
/** The memory of the last look is written again when so many files changed. */
const STORE_LOOK_AFTER = 200;
const UPKEEP_PASSES = 3;

export function openFileKeeper(opts: {
  root: string;
  dir: string;
  now?: () => number;
  limits?: FileLimits;
}): SnapshotKeeper {
  const root = fs.realpathSync(opts.root);
  makeDir(opts.dir);
  const dir = fs.realpathSync(opts.dir);
  const clock = opts.now ?? Date.now;
  const limits = {
    maxFileBytes: 10_000_000,
    budgetMs: 2_000,
    sliceMs: 8,
    graceMs: 600_000,
    lockMs: 2_000,
    ...opts.limits,
  };
  const refusal = refusedRoot(root);
  const projectObjects = () => findRepository(root)?.objects;
  const alternates = () => [projectObjects() ?? []].flat();
  const store = openObjects(dir, { root, alternates });
  const looker = openLooker({ root, dir, store, refusal, maxFileBytes: limits.maxFileBytes, sliceMs: limits.sliceMs });
  const marksFile = path.join(dir, "marks");
  let queue: Promise<unknown> = Promise.resolve();
  let behind: Promise<void> | undefined;

  const queued = <T>(work: () => Promise<T>): Promise<T> => {
    const run = queue.then(work);
    queue = run.catch(() => undefined);
    return run;
  };
  const alone = <T>(work: () => Promise<T>): Promise<T> => withLock(path.join(dir, "lock"), limits.lockMs, work);
  const entriesNow = async () => {
    const seen = await looker.look({ budgetMs: Number.POSITIVE_INFINITY, keep: false });
    return entriesOf(seen.top);
  };

  function startUpkeep(): void {
    if (behind || (!needsUpkeep(store) && looker.unstored < STORE_LOOK_AFTER)) return;
    behind = (async () => {
      if (looker.unstored >= STORE_LOOK_AFTER) await looker.store();
      const inTurn = <T>(work: () => Promise<T>) => queued(() => alone(work));
      // Saves went on beside it: what they made since is looked at once more.
      for (let pass = 0; pass < UPKEEP_PASSES && needsUpkeep(store); pass++)
        await upkeep(store, { root, objects: projectObjects(), alone: inTurn, rescue: looker.rescue });
    })()
      .catch(() => undefined) // the next save tries again
      .finally(() => {
        behind = undefined;
      });
  }

  async function saveNow({ signal, since, whole = false }: SaveOptions): Promise<SnapshotMark> {
    const started = monotonicMs();
    const at = clock();
    signal?.throwIfAborted();
    store.refresh();
    const budgetMs = whole ? Number.POSITIVE_INFINITY : limits.budgetMs;
    const seen = await looker.look({ budgetMs, keep: true, signal });
    const { scan } = seen;
    const files = writeTree(seen.top, store);
    await yieldToEventLoop();
    const counted = countUp(seen.top);
    const manifest: Manifest = {
      v: 1,
      partial: scan.partial,
      modes: counted.modes,
      odd: counted.odd,
      left: leftOf(scan.left),
      outside: seen.outside,
      ...(since !== undefined && { changed: changedSince(seen.top, since) }),
    };
    const id = writeMark(files, manifest, store);
    await store.flush();
    crashPoint("files.kept");
    fs.appendFileSync(marksFile, `${id} ${clock()}\n`, { mode: 0o600 });
    const left = scan.left.slice(0, SHOWN_LEFT).map(({ path: at, why }) => ({ path: shownOf(at) || root, why }));
    if (scan.left.length > SHOWN_LEFT) left.push({ path: "…", why: `${scan.left.length - SHOWN_LEFT} more` });
    const ms = Math.round(monotonicMs() - started);
    return { id, files: counted.files, bytes: counted.bytes, left, partial: scan.partial, at, ms };
  }

  async function rulesOf(mark: Entries, manifest: Manifest) {
    const files = ignoreFilesIn(mark);
    const texts = new Map<RawPath, string>();
    await readFor(store, files, ({ folder }, content) => {
      texts.set(folder, content?.toString("latin1") ?? "");
    });
    return rulesByFolder(texts, chainOf(manifest.outside));
  }

  async function planFor(mark: SnapshotMark, options: RestoreFilesOptions) {
    const { entries, manifest } = await readMark(mark.id, store);
    const expect = options.expect && (await readMark(options.expect.id, store)).entries;
    const now = await entriesNow();
    const force = options.force ?? false;
    const rulesOfMark = await rulesOf(entries, manifest);
    const named = wantedBy(root, options.paths);
    const keep = new Set(options.keep);
    const wanted = (at: RawPath) => named(at) && (keep.size === 0 || !keep.has(shownOf(at)));
    const plan = planRestore({ mark: entries, manifest, now, expect, rulesOfMark, wanted, force });
    for (const path of keep) plan.conflicts.push({ path: rawOf(path), why: "changed by somebody else" });
    return { plan, entries, now, force };
  }

  async function wouldLose(mark: SnapshotMark): Promise<Losing[]> {
    if (refusal) return [];
    const { plan, entries, now } = await planFor(mark, {});
    return losingIn({ root, plan, mark: entries, markedAt: mark.at ?? 0, now });
  }

  async function changedAt(mark: SnapshotMark, paths: readonly string[]): Promise<ChangedAt[]> {
    store.refresh();
    const { entries, manifest } = await readMark(mark.id, store);
    return changedIn(entries, manifest, { now: await entriesNow(), paths });
  }

  async function restoreNow(mark: SnapshotMark, options: RestoreFilesOptions): Promise<Restored> {
    if (refusal) return { changed: [], removed: [], created: [], conflicts: [], left: [{ path: root, why: refusal }] };
    const { plan, entries, now, force } = await planFor(mark, options);
    const done = await applyPlan(plan, {
      root: rawOf(root),
      mark: entries,
      now,
      store,
      force,
      dryRun: options.dryRun ?? false,
    });
    return shownResult(done);
  }

  async function settled(): Promise<void> {
    const stay = setInterval(() => undefined, 60_000); // what runs behind does not keep the process by itself
    try {
      await queue;
      await behind;
    } finally {
      clearInterval(stay);
    }
  }

  return {
    save: (options = {}) =>
      queued(async () => {
        const mark = await alone(() => saveNow(options)).catch((error: unknown) => {
          if (!(error instanceof Error && "syscall" in error)) throw error;
          throw new HoldfastError("disk", `the files could not be kept (${errorCode(error)}): make room in ${dir}`, {
            cause: error,
          });
        });
        startUpkeep();
        return mark;
      }),
    restore: (mark, options = {}) => queued(() => alone(() => restoreNow(mark, options))),
    wouldLose: (mark) => queued(() => alone(() => wouldLose(mark))),
    changedAt: (mark, paths) => queued(() => changedAt(mark, paths)),
    diff: (a, b) =>
      queued(async () => {
        store.refresh();
        const before = (await readMark(a.id, store)).entries;
        const after = b === "now" ? await entriesNow() : (await readMark(b.id, store)).entries;
        return compare(before, after).map(({ path: at, kind }) => ({ path: shownOf(at) || ".", kind }));
      }),
    contents: (mark, paths, maxBytes) =>
      queued(() => {
        store.refresh();
        return contentsOf(mark.id, store, { paths, maxBytes });
      }),
    async collect(keep) {
      await settled();
      return queued(() =>
        alone(async () => {
          const recent = recentMarks(marksFile, clock() - limits.graceMs);
          return throwAway(store, [...new Set([...keep.map((m) => m.id), ...recent])], root);
        }),
      );
    },
    verify: (mark) =>
      queued(async () => {
        const { entries, trees } = await readMark(mark.id, store);
        const places = new Map<Oid, { oid: Oid; at: RawPath }>();
        for (const [at, { kind, oid }] of entries) if (kind !== "dir") places.set(oid, { oid, at });
        const bad: PathNote[] = [];
        await readFor(store, [...places.values()], ({ at }, content) => {
          if (!content) bad.push({ path: shownOf(at), why: "its content is missing or damaged" });
        });
        return { ok: bad.length === 0, objects: new Set(trees).size + places.size, bad };
      }),
    settled,
  };
}

/** The reason why a folder is too much to be a project. */
function refusedRoot(root: string): string | undefined {
  if (root === path.parse(root).root) return "the root of the file system is not kept";
  let home: string;
  try {
    home = fs.realpathSync(process.env.HOME || os.homedir());
  } catch {
    return undefined;
  }
  return isWithin(home, root) ? "the home directory is not kept: work in a folder of it" : undefined;
}

function wantedBy(root: string, paths: string[] | undefined): (at: RawPath) => boolean {
  if (!paths) return () => true;
  const wanted = paths.map((p) => {
    const relative = path.relative(root, path.resolve(root, p));
    if (relative.startsWith(".."))
      throw new HoldfastError("invalid", `${p} lies outside the project: name paths in it`);
    return relative;
  });
  return (at) => wanted.some((w) => isWithin(shownOf(at), w));
}

function recentMarks(file: string, since: number): Oid[] {
  let lines: string[];
  try {
    lines = fs.readFileSync(file, "latin1").split("\n");
  } catch {
    return [];
  }
  const recent = lines.filter((line) => Number(line.slice(41)) > since);
  fs.writeFileSync(`${file}.new`, recent.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  fs.renameSync(`${file}.new`, file);
  return recent.map((line) => line.slice(0, 40));
}

function shownResult(done: Applied): Restored {
  const all = (paths: RawPath[]) => paths.map((p) => shownOf(p) || ".").sort();
  const notes = (list: PathNote[]) =>
    [...new Map(list.toReversed().map((note) => [note.path, note])).values()]
      .map(({ path: at, why }) => ({ path: shownOf(at) || ".", why }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    changed: all(done.changed),
    removed: all(done.removed),
    created: all(done.created),
    conflicts: notes(done.conflicts),
    left: notes(done.left),
  };
}
