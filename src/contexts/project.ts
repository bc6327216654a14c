// Where state lives: one folder per project under the user's state directory, never inside the repository.
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { crashPoint } from "../ledger/crash-point.ts";
import { HoldfastError } from "../ledger/error.ts";
import { makeDir } from "../ledger/make-dir.ts";
import type { StorePlace } from "../ledger/open-store.ts";
import { checkCredentials, isMistyped, isServer, projectIn } from "../ledger/server-address.ts";
import { type DirId, type Here, idAt, isSameElsewhere, lookHere, openDirectory } from "./project/here.ts";
import { type Doubt, everyPlace, matchHere } from "./project/match.ts";
import {
  type FolderRecord,
  gitFacts,
  isUnlinked,
  makeProject,
  type Origin,
  parseObject,
  projectDir,
  readOrigin,
  readRecordText,
  removePlace,
  servedName,
  shortHash,
  writeFolderRecord,
  writeOrigin,
  writePlace,
  writeWhole,
} from "./project/places.ts";
import { sayChoice, sayDoubt, sayNamesake, sayNews } from "./project/sentences.ts";

export interface Project {
  id: string;
  /** The directory that the work happens in. */
  root: string;
  /** The folder that is the project's: the one with the repository, or the root itself. */
  top: string;
  /** Folder of this project's state: ledger, jobs. */
  stateDir: string;
  /** Where its ledgers are. */
  ledgers: StorePlace;
  /** What changed since the folder was last seen, for a person; it is said once. */
  news?: string;
  /** Paths where this folder was and is no longer: what is recorded there is at `top` now. */
  formerly: string[];
  /** The same folder by other paths: mounted twice. */
  alsoAt: string[];
  /** Where that is recorded; not for `sqlite:FILE`. */
  place?: { home: string; self: DirId };
}

export interface ProjectOptions {
  cwd: string;
  state?: string;
  env?: NodeJS.ProcessEnv;
}

/** Only a person can tell whether the state belongs to this folder. */
export interface Unclear {
  kind: "unclear";
  doubt: Doubt;
  top: string;
  candidate: { id: string; path: string; stateDir: string };
}

export function stateHome(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env.XDG_STATE_HOME || path.join(env.HOME || os.homedir(), ".local", "state"), "holdfast");
}

interface Home {
  home: string;
  /** Only for `sqlite:FILE`. */
  file?: string;
  /** The address of the server that keeps the ledgers; what is of this machine alone stays in `home`. */
  server?: string | undefined;
}

/** `$HOLDFAST_STATE` stands for `state` where none is given: an address with a password stays out of the list of processes. */
export function openHome({ state, env = process.env }: Pick<ProjectOptions, "state" | "env">): Home {
  const wanted = state ?? (env.HOLDFAST_STATE || stateHome(env));
  if (isServer(wanted)) {
    checkCredentials(wanted);
    return { home: stateHome(env), server: wanted };
  }
  const scheme = /^\s*([a-z][a-z0-9+.-]*):\/\//i.exec(wanted)?.[1];
  if (scheme !== undefined && scheme !== "sqlite" && scheme !== "file")
    throw new HoldfastError(
      "invalid",
      `${scheme}:// is no place for state: give a directory, sqlite:FILE, or redis://, rediss://, redis+sentinel:// (in small letters)`,
    );
  if (scheme === undefined && isMistyped(wanted))
    throw new HoldfastError(
      "invalid",
      "the state is to be at what looks like an address and is none: write redis://, rediss:// or redis+sentinel://, with a colon and two slashes; a directory begins with / or ./",
    );
  const named = wanted.replace(/^(sqlite|file):(\/\/)?/, "");
  if (named.trim() === "") throw nowhere(wanted);
  const at = path.resolve(named);
  if (!wanted.startsWith("sqlite:")) return { home: at };
  if (fs.statSync(at, { throwIfNoEntry: false })?.isDirectory())
    throw new HoldfastError("invalid", `${at} is a folder: give sqlite:FILE, or the folder without sqlite:`);
  return { home: path.dirname(at), file: at };
}

/** Whoever gave an empty one meant another than the usual: most often a variable was not set. */
const nowhere = (given: string): HoldfastError =>
  new HoldfastError(
    "invalid",
    `the state is to be in "${given}", which names no place (a variable that is not set?): give DIR, sqlite:FILE or redis://…`,
  );

/**
 * The project that a directory belongs to. `state` replaces the state directory; `sqlite:FILE` names the very file.
 * Which one it is rests on what the folder is (path, device, inode, birth time), never on what a repository can bring.
 * Contract: throws `invalid` with `Unclear` as detail where only a person can tell.
 */
export function openProject(opts: ProjectOptions): Project {
  const found = findProject(opts);
  if (!("kind" in found)) return found;
  throw new HoldfastError("invalid", `${sayDoubt(found)}: ${sayChoice(found)}`, { detail: found });
}

export function findProject(opts: ProjectOptions): Project | Unclear {
  const { home, file, server } = openHome(opts);
  if (file !== undefined) return projectOfFile(home, file, openDirectory(opts.cwd).real);
  const found = findInHome(home, opts);
  return "kind" in found ? found : withLedgers(found, { home, server });
}

/** Where the state is, and the server that keeps the ledgers; without one they lie in the project's folder. */
type Places = Pick<Home, "home" | "server">;

export const withLedgers = (project: Project, places: Places): Project => ({
  ...project,
  ledgers: ledgersOf(project, places),
});

export function ledgersOf(project: Pick<Project, "id" | "stateDir">, { home, server }: Places): StorePlace {
  if (server === undefined) return { file: path.join(project.stateDir, "ledger.db") };
  const name = servedName(home, project); // also when another is given: there is something to reach
  return { server, project: projectIn(server) ?? name };
}

function findInHome(home: string, opts: ProjectOptions): Project | Unclear {
  const here = lookHere(opts.cwd);
  const match = matchHere(home, here);
  if (match.kind === "unclear") {
    const { id, project, paths } = match.place;
    const candidate = { id, path: paths[0] ?? "", stateDir: projectDir(home, project) };
    return { kind: "unclear", doubt: match.doubt, top: here.top, candidate };
  }
  if (match.kind === "none") {
    const started = startProject(home, here, { anew: false });
    return match.namesake ? { ...started, news: sayNamesake(match.namesake) } : started;
  }
  const { place, news, changed, instead } = match;
  const whole = changed || !fs.existsSync(projectDir(home, place.project)) ? recordPlace(home, place, instead) : place;
  return projectAt(home, here, whole, news && sayNews(news, whole.id));
}

/** A read-only state directory can still be read: what could not be recorded is found out again. */
function recordPlace(home: string, place: FolderRecord, instead: FolderRecord[]): FolderRecord {
  try {
    const { project, self, paths, ...git } = place;
    let origin = readOrigin(home, project);
    // Kept up with a repository that came later: its worktrees are found by it, also without the index.
    if (!origin?.first || (origin.first.self === self && origin.first.common !== place.common)) {
      const { id: _, ...facts } = git;
      const id = (origin?.id ?? place.id) || randomUUID();
      origin = { path: place.commonPath ?? paths[0]!, ...origin, id, first: { path: paths[0]!, self, ...facts } };
      writeFolderRecord(home, () => makeDir(projectDir(home, project)));
      writeOrigin(home, project, origin);
    }
    const whole = { ...place, id: origin.id };
    writePlace(home, whole);
    crashPoint("place.recorded");
    for (const one of instead) if (one.self !== self) removePlace(home, one);
    return whole;
  } catch (error) {
    if (!fs.existsSync(projectDir(home, place.project))) throw error;
    return place;
  }
}

/** `anew`: beside what is there of this folder. */
export function startProject(home: string, here: Here, { anew }: { anew: boolean }): Project {
  const { top, topId: self } = here;
  const git = gitFacts(here);
  const anchor = `${git.commonPath ?? top}\n${git.common ?? self}`;
  for (let n = 0; ; n++) {
    const project = shortHash(n === 0 ? anchor : `${anchor}\n${n}`);
    const origin: Origin = { id: randomUUID(), path: git.commonPath ?? top, first: { path: top, self, ...git } };
    const isMade = makeProject(home, project, origin);
    crashPoint("project.made");
    if (!isMade && (anew || isUnlinked(home, project))) continue;
    const known = readOrigin(home, project);
    if (!known) writeOrigin(home, project, origin); // damaged
    const place: FolderRecord = { id: (known ?? origin).id, project, self, paths: [top], ...git };
    const others = isMade ? everyPlace(home).filter((one) => one.self !== self && one.paths.includes(top)) : [];
    for (const one of others) writePlace(home, { ...one, paths: one.paths.filter((at) => at !== top) });
    writePlace(home, place, { flush: false });
    const named = here.unproven;
    return projectAt(
      home,
      here,
      place,
      named && `.git names ${named}, which does not name this folder: it is a project of its own`,
    );
  }
}

export function projectAt(home: string, here: Here, place: FolderRecord, news: string | undefined): Project {
  const isSub = place.self !== here.topId;
  const top = isSub ? here.cwd : here.top;
  const stateDir = projectDir(home, place.project);
  const others = place.paths.filter((one) => one !== top);
  const alsoAt = others.filter((one) => isSameElsewhere(place.self, idAt(one) ?? ""));
  return {
    id: place.id,
    root: here.cwd,
    top,
    stateDir,
    ledgers: ledgersOf({ id: place.id, stateDir }, { home }),
    formerly: others.filter((one) => !alsoAt.includes(one)),
    alsoAt,
    place: { home, self: place.self },
    ...(news && { news }),
  };
}

/** Nothing is looked up: the file is what was named. */
function projectOfFile(stateDir: string, ledgers: string, root: string): Project {
  const file = path.join(stateDir, "project.json");
  const known = parseObject(readRecordText(file))?.id;
  const id = typeof known === "string" ? known : randomUUID();
  if (id !== known) writeWhole(stateDir, file, { id, path: root });
  return { id, root, top: root, stateDir, ledgers: { file: ledgers }, formerly: [], alsoAt: [] };
}
