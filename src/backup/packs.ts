// The files of checkpoints in a backup: git packs as they lie there, cut into chunks that are named by their hash.
import { hash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { packFolder } from "../file-snapshots/objects.ts";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode } from "../ledger/guards.ts";
import { makeDir } from "../ledger/make-dir.ts";
import { CHUNK, CHUNKS } from "./chunks.ts";
import type { Vault } from "./vault.ts";

const LENGTH_BYTES = 8;
const PACK = /^pack-[0-9a-f]{40,64}$/;

export const chunkName = (vault: Vault, chunk: string): string => `${CHUNKS}${vault.hashName(chunk)}.zst`;

/** A pack that has been backed up keeps its name and its bytes: it is not read again. */
export async function putPacks(
  vault: Vault,
  { filesDir, known }: { filesDir: string; known: ReadonlyMap<string, string[]> },
): Promise<Map<string, string[]>> {
  const packs = new Map<string, string[]>();
  for (const name of packsIn(packFolder(filesDir))) {
    const chunks = known.get(name) ?? (await putPack(vault, packFolder(filesDir), name));
    if (chunks) packs.set(name, chunks);
  }
  return packs;
}

function packsIn(dir: string): string[] {
  try {
    const names = new Set(fs.readdirSync(dir));
    return [...names]
      .filter((name) => name.endsWith(".idx") && names.has(name.replace(/idx$/, "pack")))
      .map((name) => name.slice(0, -".idx".length))
      .filter((name) => PACK.test(name))
      .sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Undefined: it was packed into another one meanwhile, which the next backup finds. */
async function putPack(vault: Vault, dir: string, name: string): Promise<string[] | undefined> {
  const chunks: string[] = [];
  try {
    for (const part of partsOf(join(dir, name))) {
      const chunk = hash("sha256", part, "hex");
      chunks.push(chunk);
      const object = chunkName(vault, chunk);
      if (!(await vault.has(object))) await vault.put(object, part);
    }
    return chunks;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The length of the index, the index, the pack; little of it in memory at a time. */
function* partsOf(path: string): Generator<Buffer> {
  const index = fs.readFileSync(`${path}.idx`);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64BE(BigInt(index.length));
  let held = Buffer.concat([length, index]);
  const fd = fs.openSync(`${path}.pack`, "r");
  try {
    for (let read = -1; read !== 0; ) {
      for (; held.length >= CHUNK; held = held.subarray(CHUNK)) yield held.subarray(0, CHUNK);
      const more = Buffer.alloc(CHUNK);
      read = fs.readSync(fd, more);
      held = Buffer.concat([held, more.subarray(0, read)]);
    }
    if (held.length > 0) yield held;
  } finally {
    fs.closeSync(fd);
  }
}

type ReadChunk = { kind: "whole"; bytes: Buffer } | { kind: "lost"; why: string };

async function readChunk(vault: Vault, chunk: string): Promise<ReadChunk> {
  const found = await vault.get(chunkName(vault, chunk));
  if (found.kind === "missing") return { kind: "lost", why: "a part of it is missing" };
  if (found.kind === "damaged" || hash("sha256", found.bytes, "hex") !== chunk)
    return { kind: "lost", why: "a part of it is damaged" };
  return found;
}

/** Undefined: it is whole. */
export async function packProblem(vault: Vault, chunks: readonly string[]): Promise<string | undefined> {
  for (const chunk of chunks) {
    const read = await readChunk(vault, chunk);
    if (read.kind === "lost") return read.why;
  }
  return undefined;
}

/** Contract: the index comes last: without it nobody looks at the pack. */
export async function bringPack(
  vault: Vault,
  filesDir: string,
  { name, chunks }: { name: string; chunks: readonly string[] },
): Promise<void> {
  if (!PACK.test(name)) return;
  const dir = packFolder(filesDir);
  makeDir(dir);
  const fresh = (kind: string) => join(dir, `tmp_${process.pid}_${name}.${kind}`);
  let index: Buffer | undefined;
  let held = Buffer.alloc(0);
  const pack = fs.openSync(fresh("pack"), "w", 0o444);
  try {
    for (const chunk of chunks) {
      const read = await readChunk(vault, chunk);
      if (read.kind === "lost") throw new HoldfastError("damaged", `${name}: ${read.why}: start again`);
      if (index) {
        fs.writeFileSync(pack, read.bytes);
        continue;
      }
      held = Buffer.concat([held, read.bytes]);
      const end = LENGTH_BYTES + Number(held.readBigUInt64BE());
      if (held.length < end) continue;
      index = held.subarray(LENGTH_BYTES, end);
      fs.writeFileSync(pack, held.subarray(end));
    }
    fs.fsyncSync(pack);
  } finally {
    fs.closeSync(pack);
  }
  fs.writeFileSync(fresh("idx"), index ?? "", { mode: 0o444, flush: true });
  for (const kind of ["pack", "idx"]) fs.renameSync(fresh(kind), join(dir, `${name}.${kind}`));
}

/** The files of checkpoints: packs are written once, so that one with the same name is the same. */
export function copyPacks(from: string, to: string): number {
  if (from === to) return 0;
  const [source, target] = [packFolder(join(from, "files")), packFolder(join(to, "files"))];
  if (!fs.existsSync(source)) return 0;
  makeDir(target);
  const there = new Set(fs.readdirSync(target));
  const names = fs
    .readdirSync(source)
    .filter((name) => /^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name) && !there.has(name));
  // The index comes last: without it nobody looks at a pack.
  for (const name of names.toSorted((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")))) {
    const fresh = join(target, `tmp_${process.pid}_${name}`);
    fs.copyFileSync(join(source, name), fresh);
    fs.renameSync(fresh, join(target, name));
  }
  return names.length;
}
