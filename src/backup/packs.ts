// The files of checkpoints in a backup: git packs as they lie there, cut into chunks that are named by their hash.
import { hash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { packFolder } from "../file-snapshots/objects.ts";
import { errorCode } from "../ledger/guards.ts";
import { makeDir } from "../ledger/make-dir.ts";
import type { Vault } from "./vault.ts";

const CHUNK = 8 << 20;
const LENGTH_BYTES = 8;
const PACK = /^pack-[0-9a-f]{40,64}$/;
export const CHUNKS = "chunks/";

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
  let bytes: Buffer;
  try {
    const index = fs.readFileSync(join(dir, `${name}.idx`));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeBigUInt64BE(BigInt(index.length));
    bytes = Buffer.concat([length, index, fs.readFileSync(join(dir, `${name}.pack`))]);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    const part = bytes.subarray(at, at + CHUNK);
    const chunk = hash("sha256", part, "hex");
    chunks.push(chunk);
    const object = chunkName(vault, chunk);
    if (!(await vault.has(object))) await vault.put(object, part);
  }
  return chunks;
}

export type ReadPack = { kind: "whole"; pack: Buffer; index: Buffer } | { kind: "lost"; why: string };

export async function readPack(vault: Vault, chunks: readonly string[]): Promise<ReadPack> {
  const parts: Buffer[] = [];
  for (const chunk of chunks) {
    const found = await vault.get(chunkName(vault, chunk));
    if (found.kind === "missing") return { kind: "lost", why: "a part of it is missing" };
    if (found.kind === "damaged" || hash("sha256", found.bytes, "hex") !== chunk)
      return { kind: "lost", why: "a part of it is damaged" };
    parts.push(found.bytes);
  }
  const bytes = Buffer.concat(parts);
  const end = LENGTH_BYTES + Number(bytes.readBigUInt64BE());
  return { kind: "whole", index: bytes.subarray(LENGTH_BYTES, end), pack: bytes.subarray(end) };
}

/** Contract: the index comes last: without it nobody looks at the pack. */
export function writePack(filesDir: string, name: string, { pack, index }: { pack: Buffer; index: Buffer }): void {
  if (!PACK.test(name)) return;
  const dir = packFolder(filesDir);
  makeDir(dir);
  for (const [kind, bytes] of [["pack", pack] as const, ["idx", index] as const]) {
    const fresh = join(dir, `tmp_${process.pid}_${name}.${kind}`);
    fs.writeFileSync(fresh, bytes, { mode: 0o444, flush: true });
    fs.renameSync(fresh, join(dir, `${name}.${kind}`));
  }
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
