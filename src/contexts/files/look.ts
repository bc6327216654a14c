// Owns one look at the root as a whole: in slices between which others run, within a budget, new content going into the store.
import fs from "node:fs";
import path from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { openFolder, readHere } from "./folder.ts";
import { nameIn, parentOf, type RawPath, rawOf } from "./names.ts";
import type { ObjectStore } from "./objects.ts";
import { type Oid, oidOf } from "./pack.ts";
import { chainOf, findRepository, type OutsideRules, outsideRules, trackedReader } from "./repository.ts";
import { type DirNode, type FileNode, newDir, type Scan, scanTree } from "./scan.ts";
import { loadLook, storeLook } from "./stat-cache.ts";
import { entriesOf } from "./tree.ts";

interface Seen {
  scan: Scan;
  top: DirNode;
  outside: OutsideRules;
}

export interface Looker {
  /** Contract: past the budget with what it has. `keep`: new content is put into the store, or borrowed. */
  look(opts: { budgetMs: number; keep: boolean; signal?: AbortSignal }): Promise<Seen>;
  /** Puts the content of these objects from files that still have it; gives the ones it found. */
  rescue(lost: Set<Oid>): Set<Oid>;
  /** How many files changed since the memory was stored. */
  readonly unstored: number;
  store(): Promise<void>;
}

export interface LookerOptions {
  root: string;
  /** Where the memory lies; not looked at when it is inside the root. */
  dir: string;
  store: ObjectStore;
  maxFileBytes: number;
  sliceMs: number;
  /** Why nothing of this root is kept. */
  refusal: string | undefined;
}

/** So many new files are simply kept; of more, the project may have the objects already. */
const SIMPLY_KEPT = 128;

/** Where the times of a folder are known to change with its names: ext, btrfs, xfs, tmpfs, overlay, f2fs, bcachefs. */
const TELLING = new Set([0xef53, 0x9123683e, 0x58465342, 0x01021994, 0x794c7630, 0xf2f52010, 0xca451a4e]);

export function openLooker({ root, dir, store, maxFileBytes, sliceMs, refusal }: LookerOptions): Looker {
  const rawRoot = rawOf(root);
  const inside = path.relative(root, dir);
  const skip = inside.startsWith("..") || path.isAbsolute(inside) ? undefined : rawOf(inside);
  const trackedOf = trackedReader(root);
  let memory: DirNode | undefined;
  let rules: { key: string; chain: ReturnType<typeof chainOf> } | undefined;
  let unstored = Number.POSITIVE_INFINITY;

  /** Content that was seen a moment ago; by now it may be another. */
  function readAgain(at: RawPath, kind: "file" | "link", size: number): Buffer | undefined {
    try {
      const folder = openFolder(rawRoot, parentOf(at));
      try {
        const file = folder.at(nameIn(at));
        if (kind === "link") return Buffer.from(fs.readlinkSync(file, { encoding: "latin1" }), "latin1");
        return readHere(file, size, maxFileBytes)?.content;
      } finally {
        folder.close();
      }
    } catch {
      return undefined;
    }
  }

  async function look(opts: { budgetMs: number; keep: boolean; signal?: AbortSignal }): Promise<Seen> {
    const started = performance.now();
    const repository = findRepository(root);
    const outside = outsideRules(root, repository);
    if (refusal)
      return { scan: { left: [{ path: "", why: refusal }], partial: true, changed: 0 }, top: newDir(), outside };
    const key = JSON.stringify(outside);
    if (rules?.key !== key) rules = { key, chain: chainOf(outside) };
    memory ??= loadLook(dir, rawRoot);
    await breathe();
    const later: { node: FileNode; path: RawPath }[] = [];
    let kept = 0;
    let sliceEnd = started + sliceMs;
    const isDue = () => performance.now() > sliceEnd;
    const isOver = () => performance.now() - started > opts.budgetMs;
    const pause = async () => {
      await breathe();
      opts.signal?.throwIfAborted();
      sliceEnd = performance.now() + sliceMs;
    };
    const steps = scanTree(memory, {
      root: rawRoot,
      maxFileBytes,
      outside: rules.chain,
      tracked: trackedOf(repository),
      skip,
      trustedDevice: trustedDevice(root),
      has: opts.keep ? store.has : () => true,
      take(content, oid, node, at) {
        if (!opts.keep || store.has(oid)) return;
        if (repository?.objects && kept >= SIMPLY_KEPT) later.push({ node, path: at });
        else {
          store.put("blob", content, oid);
          kept++;
        }
      },
      due: isDue,
      over: isOver,
    });
    let step = steps.next();
    for (; !step.done; step = steps.next()) await pause();
    const scan = step.value;
    if (later.length > 0 && repository?.objects) {
      const oids = [...new Set(later.map((l) => l.node.oid))];
      await pause();
      store.borrow(await store.borrowable(oids, repository.objects, opts.signal).catch(() => new Set<Oid>()));
      for (const { node, path: at } of later) {
        if (store.has(node.oid)) continue;
        if (isDue()) await pause();
        if (isOver()) scan.partial = true;
        const content = isOver() ? undefined : readAgain(at, node.kind, node.size);
        node.oid = content ? store.put("blob", content) : "";
        node.racy = true;
      }
    }
    unstored += scan.changed;
    await pause();
    return { scan, top: memory, outside };
  }

  return {
    look,
    rescue(lost) {
      const saved = new Set<Oid>();
      for (const [at, { kind, oid }] of memory ? entriesOf(memory) : []) {
        if (kind === "dir" || !lost.has(oid) || saved.has(oid)) continue;
        const content = readAgain(at, kind, 0);
        if (content && oidOf("blob", content) === oid) saved.add(store.put("blob", content));
      }
      return saved;
    },
    get unstored() {
      return unstored;
    },
    async store() {
      unstored = 0;
      if (memory) await storeLook(dir, rawRoot, memory);
    },
  };
}

function trustedDevice(root: string): number | undefined {
  try {
    return TELLING.has(fs.statfsSync(root).type) ? fs.statSync(root).dev : undefined;
  } catch {
    return undefined;
  }
}
