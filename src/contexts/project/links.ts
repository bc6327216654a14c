// What a person decides about projects: which there are, whose state this folder goes on with, which folder is forgotten.
import fs from "node:fs";
import path from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import type { StorePlace } from "../../ledger/open-store.ts";
import { projectIn } from "../../ledger/server-address.ts";
import type { Store } from "../../ledger/store.ts";
import {
  ledgersOf,
  openHome,
  type Project,
  type ProjectOptions,
  projectAt,
  startProject,
  withLedgers,
} from "../project.ts";
import { type Here, idAt, isSameElsewhere, isSameThere, lookHere } from "./here.ts";
import { everyPlace, matchHere } from "./match.ts";
import {
  allPlaces,
  type FolderRecord,
  folderOf,
  gitFacts,
  hasFile,
  holdsState,
  isServed,
  isUnlinked,
  markUnlinked,
  parseObject,
  projectDir,
  projectNames,
  readOrigin,
  readRecordText,
  removePlace,
  writeOrigin,
  writePlace,
} from "./places.ts";

export interface KnownProject {
  id: string;
  /** Where its state lies. */
  stateDir: string;
  /** Where its ledgers are, if it has any: a server that was named with one project has only those. */
  ledgers?: StorePlace;
  /** They are on a server alone, which was not named: its address may hold a password, and is recorded nowhere. */
  isElsewhere?: true;
  /** The folders it belongs to; `there`: the same folder still stands at that path. */
  folders: { path: string; there: boolean }[];
  /** No folder leads to it: forgotten, or left for another project. */
  unlinked: boolean;
  /** It is the one of the directory asked about. */
  here: boolean;
  /** When something was last recorded in it, if it holds anything. */
  usedAt?: number;
}

/** Every project; of `sqlite:FILE` the one that is in it. */
export function listProjects(opts: ProjectOptions): KnownProject[] {
  const { home, file, server } = openHome(opts);
  if (file !== undefined) return fs.existsSync(file) ? [projectInFile(file)] : [];
  const match = matchHere(home, lookHere(opts.cwd));
  const current = match.kind === "known" ? match.place.project : undefined;
  const places = everyPlace(home);
  return projectNames(home)
    .flatMap((name): KnownProject[] => {
      const origin = readOrigin(home, name);
      if (!origin && !holdsState(home, name)) return [];
      const own = places.filter((one) => one.project === name);
      const at = own.flatMap(({ self, paths }) =>
        paths.slice(0, 1).map((one) => ({ path: one, there: isSameThere(self, idAt(one) ?? "") })),
      );
      const before = origin ? folderOf(origin) : "";
      const id = origin?.id ?? own[0]?.id ?? name;
      const stateDir = projectDir(home, name);
      const isKept = server === undefined ? holdsState(home, name) : name === current || isServed(home, name);
      const hasLedgers = isKept && (name === current || projectIn(server ?? "") === undefined);
      const isElsewhere = server === undefined && isServed(home, name) && !hasFile(home, name);
      return [
        {
          id,
          stateDir,
          ...(hasLedgers && { ledgers: ledgersOf({ id, stateDir }, { home, server }) }),
          ...(isElsewhere && { isElsewhere }),
          folders: at.length > 0 || before === "" ? at : [{ path: before, there: !origin?.first && isDir(before) }],
          unlinked: isUnlinked(home, name),
          here: name === current,
          ...lastUse(home, name),
        },
      ];
    })
    .sort((a, b) => Number(b.here) - Number(a.here) || (b.usedAt ?? 0) - (a.usedAt ?? 0));
}

/** Contract: throws `invalid` for `sqlite:FILE`, which no folder leads to. */
export function projectsOfFolders(opts: ProjectOptions): KnownProject[] {
  homeOf(opts);
  return listProjects(opts);
}

/** `sqlite:FILE` is one project, whatever the folder. Looked up, never made. */
function projectInFile(file: string): KnownProject {
  const stateDir = path.dirname(file);
  const known = parseObject(readRecordText(path.join(stateDir, "project.json")));
  const at = typeof known?.path === "string" ? known.path : undefined;
  return {
    id: typeof known?.id === "string" ? known.id : "",
    stateDir,
    ledgers: { file },
    folders: at === undefined ? [] : [{ path: at, there: isDir(at) }],
    unlinked: false,
    here: true,
    ...lastWritten(file),
  };
}

/** What tells which folders are a project's. */
export type FoldersOf = Pick<Project, "stateDir" | "top" | "alsoAt"> & { place?: { home: string } | undefined };

/** Of a store that only this machine reaches every path was written here: undefined then, and nothing is asked. */
export const ownFolders = (
  { reach }: Pick<Store, "reach">,
  project: FoldersOf,
): ((folder: string) => boolean) | undefined =>
  reach === "network" ? (folder) => isFolderOf(project, folder) : undefined;

/**
 * Whether that folder is one of the project's: in its own, in a worktree that was made for it, or another one that is known as its. For
 * paths that stand in a store to which others write. Contract: changes nothing, and says no where it cannot tell.
 */
export function isFolderOf({ place, stateDir, top, alsoAt }: FoldersOf, folder: string): boolean {
  try {
    const real = fs.realpathSync(folder);
    const own = [top, ...alsoAt, path.join(stateDir, "worktrees")].filter(isDir).map((one) => fs.realpathSync(one));
    if (own.some((one) => real === one || real.startsWith(`${one}/`))) return true;
    const match = place && matchHere(place.home, lookHere(real));
    return match?.kind === "known" && projectDir(place!.home, match.place.project) === stateDir;
  } catch {
    return false;
  }
}

const lastUse = (home: string, name: string): { usedAt?: number } =>
  lastWritten(path.join(projectDir(home, name), "ledger.db"));

function lastWritten(db: string): { usedAt?: number } {
  const times = [db, `${db}-wal`].map((file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const usedAt = Math.round(Math.max(...times));
  return usedAt > 0 ? { usedAt } : {};
}

const isDir = (dir: string): boolean => idAt(dir) !== undefined;

export interface Adopted {
  project: Project;
  /** What the folder belonged to until now, if that was another one. */
  left?: { id: string; stateDir: string };
}

/** This folder goes on with the state of `which` (an id, its beginning, or the path of its folder), or with none (`new`). */
export function adoptProject(opts: ProjectOptions & { which: string }): Adopted {
  const { home, server } = homeOf(opts);
  const found = lookHere(opts.cwd);
  const before = matchHere(home, found);
  const was =
    before.kind !== "none" && [found.topId, found.cwdId].includes(before.place.self) ? before.place : undefined;
  const here = was?.self === found.cwdId ? folderAlone(found) : found;
  if (opts.which === "new") {
    const project = withLedgers(startProject(home, here, { anew: true }), { home, server });
    return { project, ...leave(home, was) };
  }
  const { id, stateDir } = chooseProject(opts, opts.which);
  const name = path.basename(stateDir);
  const place = placeHere(home, here, { id, name });
  markUnlinked(home, name, false);
  const { id: _id, project: _project, paths, ...facts } = place;
  // What the project's own folder says leads here too: a damaged index is built anew from it.
  const origin = readOrigin(home, name);
  writeOrigin(home, name, { path: here.top, ...origin, id, first: { path: paths[0]!, ...facts } });
  writePlace(home, place);
  for (const one of allPlaces(home)) {
    if (one.self === place.self) continue;
    if (one.project === name && !isSomewhere(one))
      removePlace(home, one); // this folder stands for it now
    else if (one.paths.includes(here.top))
      writePlace(home, { ...one, paths: one.paths.filter((at) => at !== here.top) });
  }
  const left = was?.project === name ? {} : leave(home, was);
  return { project: withLedgers(projectAt(home, here, place, undefined), { home, server }), ...left };
}

/** A folder inside a repository that is a project by itself. */
const folderAlone = ({ git, ...here }: Here): Here => ({
  ...here,
  top: here.cwd,
  topId: here.cwdId,
  ...(here.cwd === here.top && git && { git }),
});

/** Folders of the project that are no more were this one: what is recorded there is here now. */
function placeHere(home: string, here: Here, { id, name }: { id: string; name: string }): FolderRecord {
  const { top, topId: self } = here;
  const own = everyPlace(home).filter((one) => one.project === name);
  const origin = readOrigin(home, name);
  const first = own.length === 0 && origin ? [folderOf(origin)] : [];
  const gone = [
    ...own.filter((one) => one.self !== self && !isSomewhere(one)).flatMap((one) => one.paths),
    ...own.filter((one) => one.self === self).flatMap((one) => one.paths),
    ...first.filter((at) => (origin?.first ? !isSameThere(origin.first.self, idAt(at) ?? "") : !isDir(at))),
  ];
  const paths = [...new Set([top, ...gone])];
  return { id, project: name, self, paths, ...gitFacts(here) };
}

const isSomewhere = ({ self, paths }: FolderRecord): boolean =>
  paths.some((at, i) => (i === 0 ? isSameThere : isSameElsewhere)(self, idAt(at) ?? ""));

function leave(home: string, was: FolderRecord | undefined): { left?: Adopted["left"] } {
  if (!was) return {};
  if (!allPlaces(home).some((one) => one.project === was.project)) markUnlinked(home, was.project, true);
  return { left: { id: was.id, stateDir: projectDir(home, was.project) } };
}

/** Forgets which folders it belongs to; what it holds stays where it is. */
export function forgetProject(opts: ProjectOptions & { which: string }): KnownProject {
  const { home } = homeOf(opts);
  const found = chooseProject(opts, opts.which);
  const name = path.basename(found.stateDir);
  for (const place of allPlaces(home)) if (place.project === name) removePlace(home, place);
  markUnlinked(home, name, true); // last: until then it is found again
  return found;
}

function chooseProject(opts: ProjectOptions, which: string): KnownProject {
  const all = listProjects(opts);
  const byId = /^[0-9a-f-]{4,36}$/.test(which) ? all.filter((one) => one.id.startsWith(which)) : [];
  const at = path.resolve(opts.cwd, which);
  const found = byId.length > 0 ? byId : all.filter((one) => one.folders.some((folder) => folder.path === at));
  const [only, another] = found;
  if (only && !another) return only;
  const ids = found.map((one) => one.id.slice(0, 8)).join(", ");
  throw new HoldfastError(
    "not_found",
    found.length === 0
      ? `no project is known as ${which}: see \`holdfast project ls\``
      : `${found.length} projects are known as ${which}: give the id of one (${ids})`,
  );
}

function homeOf(opts: ProjectOptions): { home: string; server: string | undefined } {
  const { home, file, server } = openHome(opts);
  if (file === undefined) return { home, server };
  throw new HoldfastError("invalid", `--state sqlite:FILE names the very file, whatever the folder: leave it out here`);
}
