// What the user's state knows of folders: one small file a folder, found by what the folder is, naming the project it belongs to.

import { createHash, randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { errorCode, isRecord } from "../../ledger/guards.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import type { DirId, Here } from "./here.ts";

export interface FolderRecord {
  /** The project's id, and the name of its folder under `projects/`. */
  id: string;
  project: string;
  self: DirId;
  /** Where the folder was seen, the last one first. Others stay until nothing recorded there is left. */
  paths: string[];
  /** Its own git directory, and what all trees of the repository share. */
  git?: DirId;
  common?: DirId;
  commonPath?: string;
}

/** What a project's own folder says of it. `first` is missing in what older versions wrote, which knew paths alone. */
export interface Origin {
  id: string;
  path: string;
  first?: Pick<FolderRecord, "self" | "git" | "common" | "commonPath"> & { path: string };
}

/** The folder that a project began in. */
export const folderOf = ({ path: at, first }: Origin): string =>
  first?.path ?? (path.basename(at) === ".git" ? path.dirname(at) : at);

const UNLINKED = "unlinked";

export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
export const projectDir = (home: string, name: string): string => path.join(home, "projects", name);
const placeFile = (home: string, self: DirId): string => path.join(home, "places", `${shortHash(self)}.json`);

export const gitFacts = ({ git }: Pick<Here, "git">): Pick<FolderRecord, "git" | "common" | "commonPath"> =>
  git ? { git: git.id, common: git.common, commonPath: git.commonPath } : {};

/** Undefined also for one that cannot be read: it is built anew. */
export function readPlace(home: string, self: DirId): FolderRecord | undefined {
  const place = parsePlace(readRecordText(placeFile(home, self)));
  return place?.self === self ? place : undefined;
}

function parsePlace(text: string | undefined): FolderRecord | undefined {
  const found: unknown = parseObject(text);
  return isPlace(found) ? found : undefined;
}

function isPlace(found: unknown): found is FolderRecord {
  if (!isRecord(found) || !Array.isArray(found.paths)) return false;
  const { id, project, self } = found;
  return typeof id === "string" && typeof self === "string" && typeof project === "string" && /^[\w-]+$/.test(project);
}

/** `flush: false` for what the project's own folder says as well. */
export function writePlace(home: string, place: FolderRecord, opts: { flush: boolean } = { flush: true }): void {
  writeWhole(home, placeFile(home, place.self), place, opts);
}

export function removePlace(home: string, { self }: FolderRecord): void {
  writeFolderRecord(home, () => fs.rmSync(placeFile(home, self), { force: true }));
}

/** Nothing that is recorded at these paths is left. */
export function dropPaths({ home, self }: { home: string; self: DirId }, gone: ReadonlySet<string>): void {
  const place = readPlace(home, self);
  if (!place || gone.size === 0) return;
  writePlace(home, { ...place, paths: place.paths.filter((one) => !gone.has(one)) });
}

/** Every folder that is known. What names a project that is gone says nothing. */
export function allPlaces(home: string): FolderRecord[] {
  const projects = new Set(namesIn(path.join(home, "projects")));
  const dir = path.join(home, "places");
  const found: FolderRecord[] = [];
  for (const name of namesIn(dir)) {
    const place = name.startsWith(".") ? undefined : parsePlace(readRecordText(path.join(dir, name)));
    if (place && projects.has(place.project)) found.push(place);
  }
  return found;
}

export function projectNames(home: string): string[] {
  return namesIn(path.join(home, "projects")).filter((name) => !name.startsWith("."));
}

export function readOrigin(home: string, name: string): Origin | undefined {
  const found: unknown = parseObject(readRecordText(path.join(projectDir(home, name), "project.json")));
  return isOrigin(found) ? found : undefined;
}

const isOrigin = (found: unknown): found is Origin =>
  isRecord(found) && typeof found.id === "string" && typeof found.path === "string";

export function writeOrigin(home: string, name: string, origin: Origin): void {
  writeWhole(home, path.join(projectDir(home, name), "project.json"), origin);
}

/**
 * A project's folder appears with what it says of itself, or not at all; of many processes at once one makes it, and no hard links are
 * needed. Contract: false when another was there first.
 */
export function makeProject(home: string, name: string, origin: Origin): boolean {
  return writeFolderRecord(home, () => {
    const projects = path.join(home, "projects");
    makeDir(projects);
    sweep(projects);
    const fresh = fs.mkdtempSync(path.join(projects, ".new-"));
    try {
      const text = `${JSON.stringify(origin)}\n`;
      fs.writeFileSync(path.join(fresh, "project.json"), text, { mode: 0o600, flush: true });
      fs.renameSync(fresh, projectDir(home, name));
      syncFolder(projects);
      return true;
    } catch (error) {
      fs.rmSync(fresh, { recursive: true, force: true });
      if (["ENOTEMPTY", "EEXIST"].includes(String(errorCode(error)))) return false;
      throw error;
    }
  });
}

/** What processes left that were killed before their folder had its name. */
function sweep(projects: string): void {
  for (const name of namesIn(projects)) {
    if (!name.startsWith(".new-")) continue;
    const left = path.join(projects, name);
    const { mtimeMs = Date.now() } = fs.statSync(left, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > 3_600_000) fs.rmSync(left, { recursive: true, force: true });
  }
}

/** No folder leads to it by itself any more; a person may still adopt it. */
export const isUnlinked = (home: string, name: string): boolean =>
  fs.existsSync(path.join(projectDir(home, name), UNLINKED));

export function markUnlinked(home: string, name: string, unlinked: boolean): void {
  const file = path.join(projectDir(home, name), UNLINKED);
  writeFolderRecord(home, () =>
    unlinked ? fs.writeFileSync(file, "", { mode: 0o600 }) : fs.rmSync(file, { force: true }),
  );
}

/** Its ledgers are on a server, under the name that stands in it. */
const SERVED = "on-server.json";

/** What a server calls the project: its id when it was first asked. The name stays, also when the id was lost and made anew. */
export function servedName(home: string, { id, stateDir }: { id: string; stateDir: string }): string {
  const file = path.join(stateDir, SERVED);
  const name = parseObject(readRecordText(file))?.name;
  if (typeof name === "string") return name;
  try {
    writeWhole(home, file, { name: id });
  } catch {
    // A state directory that can only be read.
  }
  return id;
}

export const isServed = (home: string, name: string): boolean =>
  fs.existsSync(path.join(projectDir(home, name), SERVED));

export const hasFile = (home: string, name: string): boolean =>
  fs.existsSync(path.join(projectDir(home, name), "ledger.db"));

/** Whether there is anything in it that somebody could reach. */
export const holdsState = (home: string, name: string): boolean => hasFile(home, name) || isServed(home, name);

/** Whole or not at all, whoever else writes. */
export function writeWhole(home: string, file: string, value: unknown, { flush } = { flush: true }): void {
  writeFolderRecord(home, () => {
    makeDir(path.dirname(file));
    const fresh = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${randomUUID().slice(0, 8)}`);
    try {
      fs.writeFileSync(fresh, `${JSON.stringify(value)}\n`, { mode: 0o600, flush });
      fs.renameSync(fresh, file);
    } catch (error) {
      fs.rmSync(fresh, { force: true });
      throw error;
    }
  });
}

/** What the system says about a state directory that cannot be written, in one line. */
export function writeFolderRecord<T>(home: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || error instanceof HoldfastError) throw error;
    const full = ["ENOSPC", "EDQUOT", "EIO"].includes(code);
    const why = code === "ENOENT" ? "it cannot be made there" : messageOf(error);
    throw new HoldfastError(
      full ? "disk" : "invalid",
      `the state directory ${home} cannot be written (${why}): ${full ? "its disk is full or failing; make room, or give another --state" : "give --state or XDG_STATE_HOME a folder that can be written"}`,
      { cause: error },
    );
  }
}

function syncFolder(dir: string): void {
  const folder = fs.openSync(dir, "r");
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir).sort();
  } catch {
    return [];
  }
}

export function readRecordText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
