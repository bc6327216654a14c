// A folder as a place for backups: each object one file, written beside and renamed.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { dirname, join, sep } from "node:path";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { errorCode } from "../ledger/guards.ts";
import { makeDir } from "../ledger/make-dir.ts";
import { type BackupPlace, largerThan, MOST_BYTES, type PlacedObject, type PlaceOptions } from "./place.ts";

const UNFINISHED = /\.[0-9a-f]{12}\.part$/;

export function openFolderPlace(dir: string, { write = false }: PlaceOptions): BackupPlace {
  const stat = fs.statSync(dir, { throwIfNoEntry: false });
  if (stat && !stat.isDirectory()) throw new HoldfastError("invalid", `${dir} is a file: backups lie in a folder`);
  if (!stat && !write)
    throw new HoldfastError("not_found", `${dir} is not there: give the folder that the backup was made to`);
  const at = (name: string) => join(dir, name);
  return {
    shown: dir,
    isLocal: true,
    async put(name, bytes) {
      const file = at(name);
      const fresh = `${file}.${randomBytes(6).toString("hex")}.part`;
      try {
        makeDir(dirname(file));
        const handle = await fs.promises.open(fresh, "wx", 0o600);
        try {
          await handle.writeFile(bytes);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await fs.promises.rename(fresh, file);
        await syncFolder(dirname(file));
      } catch (error) {
        fs.rmSync(fresh, { force: true });
        throw failed(error, dir, "written");
      }
    },
    async get(name, most = MOST_BYTES) {
      try {
        return await readUpTo(at(name), most);
      } catch (error) {
        if (error instanceof HoldfastError) throw error;
        if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
        throw failed(error, dir, "read");
      }
    },
    async *list(prefix) {
      yield* listed(dir, prefix);
    },
    removeUnfinished: (before) => removeUnfinished(dir, before),
    async remove(name) {
      try {
        await fs.promises.rm(at(name), { force: true });
      } catch (error) {
        throw failed(error, dir, "changed");
      }
    },
  };
}

async function readUpTo(file: string, most: number): Promise<Buffer> {
  const { O_RDONLY, O_NONBLOCK } = fs.constants; // a pipe in its place is not waited for
  const handle = await fs.promises.open(file, O_RDONLY | O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new HoldfastError("damaged", "it is no file");
    if (stat.size > most) throw largerThan(most);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Only the folder that the prefix names is walked. */
function listed(dir: string, prefix: string): PlacedObject[] {
  const top = join(dir, prefix.slice(0, prefix.lastIndexOf("/") + 1));
  const found: PlacedObject[] = [];
  let entries: fs.Dirent[];
  try {
    entries = fs.readdirSync(top, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw failed(error, dir, "read");
  }
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const name = file.slice(dir.length + 1).replaceAll(sep, "/");
    if (!entry.isFile() || !name.startsWith(prefix) || UNFINISHED.test(name)) continue;
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat) found.push({ name, bytes: stat.size, at: stat.mtimeMs });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Contract: one that is being written is younger. */
function removeUnfinished(dir: string, before: number): number {
  let removed = 0;
  for (const entry of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !UNFINISHED.test(file)) continue;
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (!stat || stat.mtimeMs > before) continue;
    fs.rmSync(file, { force: true });
    removed++;
  }
  return removed;
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await fs.promises.open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function failed(error: unknown, dir: string, what: string): HoldfastError {
  const isFull = ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "");
  const why = isFull ? "the disk is full: make room there, and try again" : messageOf(error);
  return new HoldfastError("disk", `the backup in ${dir} could not be ${what}: ${why}`, { cause: error });
}
