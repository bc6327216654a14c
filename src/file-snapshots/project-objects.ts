// Which objects the project's own store has: by listing its folders and reading the indexes of its packs; git is asked for the rest.
import fs from "node:fs";
import path from "node:path";
import { errorCode } from "../ledger/guards.ts";
import { runGit } from "./git.ts";
import type { Oid } from "./pack.ts";

/** Indexes of more than this are git's to search: it maps them. */
const INDEX_BYTES = 32 << 20;

/** Contract: what it names was there a moment ago, as far as the project's files say; whoever copies it checks. */
export async function objectsThere(
  oids: Oid[],
  objects: string,
  ask: { gitDir: string; avoid: string; signal?: AbortSignal },
): Promise<Set<Oid>> {
  const found = looseIn(objects, oids);
  const packed = oids.filter((oid) => !found.has(oid));
  const searched = packed.length > 0 && searchPacks(objects, packed, found);
  const rest = packed.filter((oid) => !found.has(oid));
  // A store that borrows from others itself is asked through git; of any other everything is known.
  if (rest.length === 0 || (searched && !fs.existsSync(path.join(objects, "info", "alternates")))) return found;
  const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer"];
  const text = await runGit({ ...ask, args, alternates: [objects], input: `${rest.join("\n")}\n` });
  for (const line of text.toString("latin1").split("\n")) if (line.endsWith(" blob")) found.add(line.slice(0, 40));
  return found;
}

/** By listing its folders: asking for each of many loose objects costs ten times as much. */
function looseIn(objects: string, oids: Oid[]): Set<Oid> {
  const found = new Set<Oid>();
  const names = new Map<string, Set<string>>();
  for (const folder of listed(objects))
    if (/^[0-9a-f]{2}$/.test(folder)) names.set(folder, new Set(listed(path.join(objects, folder))));
  if (names.size === 0) return found;
  for (const oid of oids) if (names.get(oid.slice(0, 2))?.has(oid.slice(2))) found.add(oid);
  return found;
}

function listed(dir: string): string[] {
  try {
    return fs.readdirSync(dir);
  } catch {
    return [];
  }
}

/** False: they are too big, or of a kind that is not known here. */
function searchPacks(objects: string, oids: Oid[], found: Set<Oid>): boolean {
  const dir = path.join(objects, "pack");
  try {
    const names = fs.readdirSync(dir).filter((name) => name.endsWith(".idx"));
    const sizes = names.map((name) => fs.statSync(path.join(dir, name)).size);
    if (sizes.reduce((sum, size) => sum + size, 0) > INDEX_BYTES) return false;
    return names.map((name) => searchIndex(fs.readFileSync(path.join(dir, name)), oids, found)).every(Boolean);
  } catch (error) {
    return errorCode(error) === "ENOENT";
  }
}

/** Version 2, with names of 20 bytes. */
function searchIndex(index: Buffer, oids: Oid[], found: Set<Oid>): boolean {
  if (index.length < 1032 || index.readUInt32BE(0) !== 0xff744f63 || index.readUInt32BE(4) !== 2) return false;
  const upTo = (first: number) => (first < 0 ? 0 : index.readUInt32BE(8 + first * 4));
  const count = upTo(255);
  if (index.length < 1032 + count * 28) return false;
  for (const oid of oids) {
    const start = Number.parseInt(oid.slice(0, 8), 16);
    let low = upTo((start >>> 24) - 1);
    for (let high = Math.min(upTo(start >>> 24), count); low < high; ) {
      const middle = (low + high) >> 1;
      const at = 1032 + middle * 20;
      const there = index.readUInt32BE(at);
      const name = there === start ? index.toString("hex", at, at + 20) : "";
      if (name === oid) {
        found.add(oid);
        break;
      }
      if (there < start || (there === start && name < oid)) low = middle + 1;
      else high = middle;
    }
  }
  return true;
}
