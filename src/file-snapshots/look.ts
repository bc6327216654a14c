// One scan of the whole project folder for a snapshot: in slices, so that other work runs in between, within a budget; new contents go into the store.

import fs from "node:fs";
import path from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { monotonicMs } from "../ledger/holder.ts";
import { openFolder } from "./folder.ts";
import { joined, nameIn, parentOf, type RawPath, rawOf } from "./names.ts";
import type { ObjectStore } from "./objects.ts";
import { type Oid, oidOf } from "./pack.ts";
import { thisReader } from "./reader.ts";
import { openReading } from "./reading.ts";
import { chainOf, findRepository, type OutsideRules, outsideRules, trackedReader } from "./repository.ts";
import { type DirNode, type FileNode, type Left, newDir, type Scan, scanTree } from "./scan.ts";
import { loadLook, storeLook } from "./stat-cache.ts";
import { entriesOf } from "./tree.ts";

interface Seen {
  scan: Scan;
  top: DirNode;
  outside: OutsideRules;
}

export interface Looker {
  /** Contract: when the budget is used up it returns what it has so far. `keep`: new content is stored, or noted where the project's git has it. */
  look(opts: { budgetMs: number; keep: boolean; signal?: AbortSignal }): Promise<Seen>;
  /** Stores these objects anew from files that still have their content; returns those that it found. */
  rescue(lost: Set<Oid>): Set<Oid>;
  /** How many files changed since the stat cache was written. */
  readonly unstored: number;
  store(): Promise<void>;
}

export interface LookerOptions {
  root: string;
  /** The folder of the stat cache; left out of the scan when it is inside the root. */
  dir: string;
  store: ObjectStore;
  maxFileBytes: number;
  sliceMs: number;
  /** Why nothing of this root is kept. */
  refusal: string | undefined;
}

/** The walk stops for reading when so many files wait: what is over the budget has read something, and the next look goes on from there. */
const READ_LATER = 8_192;

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
  function readAgain(at: RawPath, kind: "file" | "link"): Buffer | undefined {
    try {
      const folder = openFolder(rawRoot, parentOf(at));
      try {
        const file = folder.at(nameIn(at));
        if (kind === "link") return Buffer.from(fs.readlinkSync(file, { encoding: "latin1" }), "latin1");
        return thisReader().readOne(file, maxFileBytes)?.content;
      } finally {
        folder.close();
      }
    } catch {
      return undefined;
    }
  }

  async function look(opts: { budgetMs: number; keep: boolean; signal?: AbortSignal }): Promise<Seen> {
    const started = monotonicMs();
    const repository = findRepository(root);
    const outside = outsideRules(root, repository);
    if (refusal)
      return { scan: { left: [{ path: "", why: refusal }], partial: true, changed: 0 }, top: newDir(), outside };
    const key = JSON.stringify(outside);
    if (rules?.key !== key) rules = { key, chain: chainOf(outside) };
    memory ??= loadLook(dir, rawRoot);
    await yieldToEventLoop();
    let sliceEnd = started + sliceMs;
    const isDue = () => monotonicMs() > sliceEnd;
    const isOver = () => monotonicMs() - started > opts.budgetMs;
    const pause = async () => {
      await yieldToEventLoop();
      opts.signal?.throwIfAborted();
      sliceEnd = monotonicMs() + sliceMs;
    };
    const later: { node: FileNode; folder: RawPath; name: RawPath }[] = [];
    const unreadable: Left[] = [];
    const borrows = opts.keep && repository?.objects !== undefined;
    const reading = openReading({
      root: rawRoot,
      max: maxFileBytes,
      keep: opts.keep && !borrows,
      take(parts, chunk) {
        if (!opts.keep) return;
        // Of many new files the project may have the objects already.
        if (!borrows) return store.putRead(chunk);
        for (const { of, from, to } of parts)
          for (const name of of.names.slice(from, to)) {
            const node = of.children.get(name);
            if (node?.kind === "file" && !store.has(node.oid)) later.push({ node, folder: of.path, name });
          }
      },
      spare: store.spare,
      ...(opts.keep && { each: (content, oid) => void store.put("blob", content, oid) }),
      left: (at, why) => unreadable.push({ path: at, why }),
    });
    let scan: Scan;
    try {
      const steps = scanTree(memory, {
        root: rawRoot,
        outside: rules.chain,
        tracked: trackedOf(repository),
        skip,
        trustedDevice: trustedDevice(root),
        has: opts.keep ? store.has : () => true,
        takeLink(target, oid) {
          if (opts.keep && !store.has(oid)) store.put("blob", target, oid);
        },
        unread: reading.add,
        due: isDue,
        over: isOver,
      });
      const readDownTo = async (enough: number) => {
        while (reading.size > enough && !isOver()) {
          await reading.step();
          if (isDue()) await pause();
        }
      };
      let step = steps.next();
      for (; !step.done; step = steps.next()) {
        await pause();
        await readDownTo(READ_LATER);
      }
      scan = step.value;
      await readDownTo(0);
      if (reading.size > 0) scan.partial = true;
    } finally {
      reading.stop();
    }
    for (const one of unreadable) scan.left.push(one);
    if (later.length > 0 && repository?.objects) {
      const oids = [...new Set(later.map((l) => l.node.oid))];
      await pause();
      store.borrow(await store.borrowable(oids, repository.objects, opts.signal).catch(() => new Set<Oid>()));
      for (const { node, folder, name } of later) {
        if (store.has(node.oid)) continue;
        if (isDue()) await pause();
        if (isOver()) scan.partial = true;
        const content = isOver() ? undefined : readAgain(joined(folder, name), node.kind);
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
        const content = readAgain(at, kind);
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
