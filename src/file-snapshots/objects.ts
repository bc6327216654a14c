// The private git directory: which objects it holds, adding to it, reading from it.
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isHoldfastError } from "../ledger/error.ts";
import { makeDir } from "../ledger/make-dir.ts";
import { only } from "../ledger/only.ts";
import { NO_ATTRIBUTES, startGit } from "./git.ts";
import {
  newPack,
  type ObjectType,
  type Oid,
  oidOf,
  oidsIn,
  type Pack,
  type PackEntry,
  synced,
  type WrittenPack,
} from "./pack.ts";
import { objectsThere } from "./project-objects.ts";
import { AT, NUMBERS, type ReadChunk } from "./reader.ts";

export interface ObjectStore {
  readonly gitDir: string;
  readonly packDir: string;
  /** Counts up when another process added packs, or objects are gone. */
  readonly generation: number;
  /** Looks again at what is there. Contract: called under the lock before a save. */
  refresh(): void;
  /** Stored here, or in the project's own git store and noted for copying. */
  has(oid: Oid): boolean;
  owns(oid: Oid): boolean;
  /** `oid` where the caller has hashed it. */
  put(type: ObjectType, content: Uint8Array, oid?: Oid): Oid;
  /** The files of a chunk, their entries ready to be written. */
  putRead(chunk: ReadChunk): void;
  /** The buffer of a chunk that was written, to be used again; undefined where there is none. */
  spare(): ArrayBuffer | undefined;
  /** What was put becomes durable. Contract: awaited before anybody is told its name. */
  flush(): Promise<void>;
  /** Objects that the project's own git store has, and that are not copied here yet. */
  readonly borrowed: Iterable<Oid> & Pick<ReadonlySet<Oid>, "has" | "size">;
  borrow(oids: Iterable<Oid>): void;
  /** Drops from that list what is stored here by now, and `lost`. */
  settle(lost: Iterable<Oid>): void;
  /** Which of these the project's own store has. */
  borrowable(oids: Oid[], objects: string, signal?: AbortSignal): Promise<Set<Oid>>;
  /** Contract: `each` is called for every object in the order asked, with undefined for what is missing or damaged; the content is its own. */
  read(oids: Oid[], each: (oid: Oid, content: Buffer | undefined) => void | Promise<void>): Promise<void>;
  packs(): { name: string; raw: boolean; oids: Oid[] }[];
}

/** A pack is closed at this size, so that little is held in memory. */
const PACK_BYTES = 8 << 20;
/** What one save compresses at once; the rest is compressed behind it. */
const COMPRESS = { objects: 64, bytes: 1 << 20 };

/** Where the packs of a keeper in `dir` lie: each is written once, under a name of its own. */
export const packFolder = (dir: string): string => path.join(dir, "git", "objects", "pack");

export function openObjects(dir: string, opts: { root: string; alternates: () => string[] }): ObjectStore {
  const gitDir = path.join(dir, "git");
  const packDir = packFolder(dir);
  const borrowedFile = path.join(dir, "borrowed");
  lay(gitDir, packDir);
  const known = new Map<string, { raw: boolean; oids: Oid[] }>();
  let own = new Set<Oid>();
  let borrowed = new Set<Oid>();
  let seen = "";
  let generation = 0;
  let open: Pack | undefined;
  let inOpen = new Set<Oid>();
  const written: WrittenPack[] = [];
  /** Memory that was touched once is cheaper than new memory. */
  const inUse: ArrayBuffer[] = [];
  const spare: ArrayBuffer[] = [];
  let budget = { ...COMPRESS };

  const stamp = () => {
    const stat = fs.statSync(borrowedFile, { throwIfNoEntry: false });
    return `${fs.readdirSync(packDir).sort().join()}:${stat?.size}:${stat?.mtimeMs}:${stat?.ino}`;
  };

  /** Nothing is known any more: what could not be written is asked for again. */
  function forget(): void {
    known.clear();
    own = new Set();
    inOpen = new Set();
    open = undefined;
    written.length = 0;
    inUse.length = 0;
    seen = "";
  }

  function close(): void {
    if (!open) return;
    let pack: WrittenPack;
    try {
      pack = open.write(packDir);
    } catch (error) {
      forget();
      throw error;
    }
    for (const oid of pack.oids) own.add(oid);
    written.push(pack);
    spare.push(...inUse.splice(0));
    open = undefined;
    inOpen = new Set();
  }

  async function flush(): Promise<void> {
    close();
    spare.length = 0;
    budget = { ...COMPRESS };
    if (written.length === 0) return;
    try {
      for (const pack of written.splice(0)) {
        await pack.publish();
        known.set(pack.name, { raw: pack.raw, oids: pack.oids });
      }
      await synced(packDir);
      seen = stamp();
    } catch (error) {
      forget();
      throw error;
    }
  }

  return {
    gitDir,
    packDir,
    borrowed: {
      has: (oid: Oid) => borrowed.has(oid),
      get size() {
        return borrowed.size;
      },
      [Symbol.iterator]: () => borrowed[Symbol.iterator](),
    },
    get generation() {
      return generation;
    },
    refresh() {
      if (stamp() === seen) return;
      const names = fs.readdirSync(packDir);
      const packs = names.filter((n) => /^pack-.*\.idx$/.test(n) && names.includes(`${n.slice(0, -4)}.pack`));
      const before = known.size;
      const there = new Set(packs.map((n) => n.slice(0, -4)));
      let gone = 0;
      for (const name of known.keys()) if (!there.has(name)) gone += known.delete(name) ? 1 : 0;
      for (const name of there) {
        const raw = names.includes(`${name}.raw`);
        const entry = known.get(name);
        if (entry) entry.raw = raw;
        else known.set(name, { raw, oids: oidsIn(fs.readFileSync(path.join(packDir, `${name}.idx`))) });
      }
      if (gone > 0 || before === 0) {
        own = new Set();
        generation++;
      }
      for (const { oids } of known.values()) for (const oid of oids) own.add(oid);
      borrowed = readBorrowed(borrowedFile);
      sweep(packDir, names);
      seen = stamp();
    },
    has: (oid) => own.has(oid) || inOpen.has(oid) || borrowed.has(oid),
    owns: (oid) => own.has(oid),
    put(type, content, oid = oidOf(type, content)) {
      if (own.has(oid) || inOpen.has(oid)) return oid;
      open ??= newPack();
      budget.objects--;
      budget.bytes -= content.length;
      open.add(oid, type, content, budget.objects >= 0 && budget.bytes >= 0);
      inOpen.add(oid);
      if (open.size > PACK_BYTES) close();
      return oid;
    },
    putRead({ count, numbers, oids, entries }) {
      if (!entries) return;
      const bytes = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength);
      let run: PackEntry[] = [];
      let start = 0;
      let end = 0;
      const put = () => {
        if (run.length === 0) return;
        open ??= newPack();
        open.addRead(bytes.subarray(start, end), run);
        run = [];
      };
      for (let i = 0; i < count; i++) {
        const length = numbers[i * NUMBERS + AT.length]!;
        if (length === 0) continue;
        const oid = oids.slice(i * 40, i * 40 + 40);
        if (own.has(oid) || inOpen.has(oid)) put();
        else {
          if (run.length === 0) start = end;
          run.push({ oid, crc: numbers[i * NUMBERS + AT.crc]!, length });
          inOpen.add(oid);
        }
        end += length;
        if (run.length === 0) start = end;
      }
      put();
      inUse.push(entries.buffer);
      if (open && open.size > PACK_BYTES) close();
    },
    spare: () => spare.pop(),
    flush,
    borrow(oids) {
      const fresh = [...new Set(oids)].filter((oid) => !own.has(oid) && !borrowed.has(oid));
      if (fresh.length === 0) return;
      const fd = fs.openSync(borrowedFile, "a", 0o600);
      fs.writeFileSync(fd, `${fresh.join("\n")}\n`);
      fs.fsyncSync(fd);
      fs.closeSync(fd);
      for (const oid of fresh) borrowed.add(oid);
      seen = stamp();
    },
    settle(lost) {
      const out = new Set(lost);
      const rest = [...readBorrowed(borrowedFile)].filter((oid) => !own.has(oid) && !out.has(oid));
      if (rest.length === borrowed.size) return;
      borrowed = new Set(rest);
      const fresh = `${borrowedFile}.${process.pid}`;
      fs.writeFileSync(fresh, rest.length ? `${rest.join("\n")}\n` : "", { mode: 0o600, flush: true });
      fs.renameSync(fresh, borrowedFile);
      if (out.size > 0) generation++;
      seen = stamp();
    },
    borrowable: (oids, objects, signal) => objectsThere(oids, objects, { gitDir, avoid: opts.root, signal }),
    async read(oids, each) {
      await flush();
      const args = ["cat-file", "--batch", "--buffer"];
      const call = { gitDir, args, alternates: opts.alternates(), avoid: opts.root };
      // Git gives up at the first object that is damaged: that one is passed over, and the rest asked for again.
      for (let done = 0; done < oids.length; ) {
        const rest = oids.slice(done);
        const { child, ended } = startGit({ ...call, input: `${rest.join("\n")}\n` });
        try {
          done += await eachObject(child.stdout, rest, each);
          const failed = await ended.then(
            () => undefined,
            (error: unknown) => error,
          );
          if (done === oids.length) return;
          if (isHoldfastError(failed, "not_found")) throw failed;
          const damaged = oids[done++];
          if (damaged !== undefined) await each(damaged, undefined);
        } finally {
          child.kill("SIGKILL");
        }
      }
    },
    packs: () => [...known].map(([name, { raw, oids }]) => ({ name, raw, oids })),
  };
}

/** Contract: as `read`, each with what its object is for. */
export async function readFor<T extends { oid: Oid }>(
  store: Pick<ObjectStore, "read">,
  items: readonly T[],
  each: (item: T, content: Buffer | undefined) => void,
): Promise<void> {
  const asked = items.values();
  await store.read(
    items.map(({ oid }) => oid),
    (_, content) => {
      const next = asked.next();
      if (!next.done) each(next.value, content);
    },
  );
}

/** Contract: made by hand, so that no template of anybody gets in. */
function lay(gitDir: string, packDir: string): void {
  if (fs.existsSync(path.join(gitDir, "HEAD"))) return;
  makeDir(packDir);
  makeDir(path.join(gitDir, "refs", "heads"));
  makeDir(path.join(gitDir, "info"));
  fs.writeFileSync(path.join(gitDir, "info", "attributes"), NO_ATTRIBUTES);
  fs.writeFileSync(path.join(gitDir, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n");
  const fresh = path.join(gitDir, `HEAD.${process.pid}`);
  fs.writeFileSync(fresh, "ref: refs/heads/none\n");
  fs.renameSync(fresh, path.join(gitDir, "HEAD"));
}

/** What a killed process left: nobody works on a file that is an hour old. */
function sweep(packDir: string, names: string[]): void {
  const there = new Set(names);
  for (const name of names) {
    const orphan = /^pack-.*\.(pack|raw)$/.test(name) && !there.has(name.replace(/\.\w+$/, ".idx"));
    if (!orphan && !name.startsWith("tmp_")) continue;
    const file = path.join(packDir, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > 3_600_000) fs.rmSync(file, { force: true });
  }
}

function readBorrowed(file: string): Set<Oid> {
  try {
    return new Set(
      fs
        .readFileSync(file, "latin1")
        .split("\n")
        .filter((line) => line.length === 40),
    );
  } catch {
    return new Set();
  }
}

/** What `cat-file --batch` prints, checked against the names that were asked for; gives how many there were. */
async function eachObject(
  stdout: AsyncIterable<Buffer>,
  oids: Oid[],
  each: (oid: Oid, content: Buffer | undefined) => void | Promise<void>,
): Promise<number> {
  let held: Buffer[] = [];
  let size = 0;
  let wanted = 1;
  let next = 0;
  for await (const chunk of stdout) {
    held.push(chunk);
    size += chunk.length;
    if (size < wanted) continue;
    let bytes = only(held) ?? Buffer.concat(held);
    for (;;) {
      const line = bytes.indexOf(10);
      if (line < 0) {
        wanted = bytes.length + 1;
        break;
      }
      const [, type, length] = bytes.toString("latin1", 0, line).split(" ");
      const oid = oids[next];
      if (oid === undefined) return next;
      if (type === "missing" || length === undefined) {
        await each(oid, undefined);
        bytes = bytes.subarray(line + 1);
      } else {
        const end = line + 1 + Number(length);
        if (bytes.length < end + 1) {
          wanted = end + 1;
          break;
        }
        const content = bytes.subarray(line + 1, end);
        const sum = hash("sha1", Buffer.concat([Buffer.from(`${type} ${length}\0`), content]), "hex");
        await each(oid, sum === oid ? content : undefined);
        bytes = bytes.subarray(end + 1);
      }
      next++;
    }
    held = [bytes];
    size = bytes.length;
  }
  return next;
}
