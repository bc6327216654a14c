// Maintenance of the snapshot store after a save: copying objects that are borrowed from the project's git, packing, removing what no checkpoint needs.
import fs from "node:fs";
import path from "node:path";
import { crashPoint } from "../ledger/crash-point.ts";
import { runGit, startGit } from "./git.ts";
import type { ObjectStore } from "./objects.ts";
import type { Oid } from "./pack.ts";

/** More packs than this become one. */
const MANY_PACKS = 48;

/** Contract: adds a pack with these objects; every one is read, hashed and checked on the way, whoever's it was. */
async function copyIn(
  store: ObjectStore,
  oids: Oid[],
  opts: { root: string; alternates: string[]; compress: boolean; background: boolean },
): Promise<void> {
  if (oids.length === 0) return;
  const common = { gitDir: store.gitDir, avoid: opts.root, background: opts.background };
  const packing = ["pack-objects", "-q", "--stdout", "--delta-base-offset"];
  packing.push(
    ...(opts.compress ? ["--no-reuse-object", "--window=10", "--depth=20"] : ["--window=0", "--compression=1"]),
  );
  const out = startGit({ ...common, args: packing, alternates: opts.alternates, input: `${oids.join("\n")}\n` });
  // Without alternates: what it writes has to stand alone, and a name is what its content says.
  const into = startGit({ ...common, args: ["index-pack", "--stdin", "--threads=1"] });
  into.child.stdout.resume();
  out.child.stdout.pipe(into.child.stdin);
  out.ended.catch(() => into.child.kill("SIGKILL"));
  await Promise.all([out.ended, into.ended]);
}

export const needsUpkeep = (store: ObjectStore): boolean =>
  store.borrowed.size > 0 || store.packs().length > MANY_PACKS || store.packs().some((p) => p.raw);

export interface Upkeep {
  root: string;
  objects: string | undefined;
  /** Runs alone among all processes. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Puts objects that the project no longer has, from files that still have that content. */
  rescue(lost: Set<Oid>): Set<Oid>;
}

/** Contract: adds before it removes, so that a kill at any point loses nothing; runs beside saves. */
export async function upkeep(store: ObjectStore, opts: Upkeep): Promise<void> {
  if (store.borrowed.size > 0) {
    const wanted = [...store.borrowed].filter((oid) => !store.owns(oid));
    const there = opts.objects ? await store.borrowable(wanted, opts.objects) : new Set<Oid>();
    const alternates = opts.objects ? [opts.objects] : [];
    const copy = () => copyIn(store, [...there], { root: opts.root, alternates, compress: false, background: true });
    let failed = false;
    await copy().catch(async () => {
      // One of them is damaged or was removed meanwhile, so that nothing was copied: try again without those.
      await store.read([...there], (oid, content) => void (content ?? there.delete(oid)));
      await copy().catch(() => {
        failed = true;
      });
    });
    crashPoint("files.copied");
    await opts.alone(async () => {
      store.refresh();
      const missing = new Set(wanted.filter((oid) => !store.owns(oid)));
      const rescued = missing.size > 0 ? opts.rescue(missing) : new Set<Oid>();
      await store.flush();
      // What neither has is gone; a copy that failed as a whole is tried again at the next save.
      const gone = (oid: Oid) => !rescued.has(oid) && !(failed && there.has(oid));
      store.settle([...missing].filter(gone));
    });
  }
  const packs = store.packs();
  const merged = packs.length > MANY_PACKS ? packs : packs.filter((p) => p.raw);
  if (merged.length === 0) return;
  const oids = [...new Set(merged.flatMap((p) => p.oids))];
  await copyIn(store, oids, { root: opts.root, alternates: [], compress: true, background: true });
  await opts.alone(async () => {
    store.refresh();
    const names = new Set(merged.map((p) => p.name));
    const elsewhere = new Set(
      store
        .packs()
        .filter((p) => !names.has(p.name))
        .flatMap((p) => p.oids),
    );
    for (const { name, oids } of merged) if (oids.every((oid) => elsewhere.has(oid))) drop(store, name);
    store.refresh();
  });
}

/** Contract: under the lock. Keeps what the marks reach; gives how many bytes became free. */
export async function throwAway(
  store: ObjectStore,
  keep: Oid[],
  root: string,
): Promise<{ freed: number; objects: number }> {
  const before = bytesIn(store.packDir);
  store.refresh();
  const old = store.packs();
  const there = keep.filter((id) => store.owns(id));
  const args = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--stdin"];
  const listed = there.length
    ? await runGit({ gitDir: store.gitDir, args, avoid: root, input: `${there.join("\n")}\n` })
    : Buffer.alloc(0);
  const wanted = new Set(listed.toString("latin1").split("\n").filter(Boolean));
  const total = old.reduce((sum, p) => sum + p.oids.length, 0);
  const needed = [...wanted].filter((oid) => store.owns(oid));
  if (needed.length < total) {
    await copyIn(store, needed, { root, alternates: [], compress: true, background: false });
    crashPoint("files.collected");
    store.refresh();
    const fresh = new Set(store.packs().map((p) => p.name));
    for (const { name } of old) fresh.delete(name);
    const copied = new Set(
      store
        .packs()
        .filter((p) => fresh.has(p.name))
        .flatMap((p) => p.oids),
    );
    // The same objects give a pack of the same name: it counts as an old one, and stays.
    for (const { name, oids } of old) {
      const only = oids.some((oid) => wanted.has(oid) && !copied.has(oid));
      if (!only) drop(store, name);
    }
  }
  store.refresh();
  store.settle([...store.borrowed].filter((oid) => !wanted.has(oid)));
  return { freed: before - bytesIn(store.packDir), objects: needed.length };
}

/** The index first: a pack without one is no pack. */
function drop(store: ObjectStore, name: string): void {
  for (const kind of ["idx", "rev", "raw", "pack"])
    fs.rmSync(path.join(store.packDir, `${name}.${kind}`), { force: true });
}

function bytesIn(dir: string): number {
  return fs
    .readdirSync(dir)
    .reduce((sum, n) => sum + (fs.statSync(path.join(dir, n), { throwIfNoEntry: false })?.size ?? 0), 0);
}
