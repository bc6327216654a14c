// The decision which project a folder belongs to: found, not to be told without a person, or none yet. Decides; writes nothing.
import path from "node:path";
import { type Here, idAt, isImageOf, isSameElsewhere, isSameThere, tellsBirth } from "./here.ts";
import {
  allPlaces,
  type FolderRecord,
  folderOf,
  gitFacts,
  holdsState,
  isUnlinked,
  projectNames,
  readOrigin,
  readPlace,
  shortHash,
} from "./places.ts";

/** What changed since the folder was last seen. */
export type News = { kind: "moved"; from: string } | { kind: "repository" } | { kind: "worktree"; of: string };

export type Doubt =
  | "replaced" // another folder stood at this path
  | "repository" // the same folder, with another repository than the one recorded
  | "git_moved" // the repository of another folder
  | "image" // a snapshot or an image of the folder, mounted elsewhere
  | "birthless"; // another path, and a file system that tells no birth time

export type Match = Known | { kind: "unclear"; doubt: Doubt; place: FolderRecord } | None;

interface Known {
  kind: "known";
  place: FolderRecord;
  news?: News;
  /** The place says something new, to be recorded. */
  changed: boolean;
  /** Places that it stands for now. */
  instead: FolderRecord[];
}

interface None {
  kind: "none";
  /** One of the same name whose folder is gone: perhaps it was moved to another disk. */
  namesake?: Namesake;
}

export interface Namesake {
  id: string;
  path: string;
}

/** One small read where nothing has changed; all folders are looked through only when this one is not known. */
export function matchHere(home: string, here: Here): Match {
  // A folder that was a project before a repository came above it stays one.
  const own = here.cwd === here.top ? undefined : readPlace(home, here.cwdId);
  if (own && (own.paths[0] === here.cwd || tellsBirth(own.self))) return known(own, { top: here.cwd });
  const place = readPlace(home, here.topId);
  return place ? ofKnownFolder(home, here, place) : ofUnknownFolder(home, here);
}

function ofKnownFolder(home: string, here: Here, place: FolderRecord): Match {
  if (place.paths[0] !== here.top && !tellsBirth(place.self)) return { kind: "unclear", doubt: "birthless", place };
  const { git } = here;
  if (git && place.git !== undefined && !isSameThere(place.git, git.id)) {
    const isOurs = allPlaces(home).some(
      (one) => one.project === place.project && one.common !== undefined && isSameThere(one.common, git.common),
    );
    if (!isOurs) return { kind: "unclear", doubt: "repository", place };
  }
  return known(place, here);
}

function known(place: FolderRecord, now: Pick<Here, "top" | "git">): Match {
  const { top, git } = now;
  const [last] = place.paths;
  const isNewHere = !place.paths.includes(top);
  const paths = isNewHere ? [top, ...place.paths] : place.paths;
  const changed = isNewHere || (git !== undefined && place.git !== git.id);
  const found = { ...place, paths, ...gitFacts(now) };
  if (isNewHere && last !== undefined)
    return { kind: "known", place: found, news: { kind: "moved", from: last }, changed, instead: [] };
  const news: News | undefined = git && place.git === undefined ? { kind: "repository" } : undefined;
  return { kind: "known", place: found, ...(news && { news }), changed, instead: [] };
}

function ofUnknownFolder(home: string, here: Here): Match {
  const all = everyPlace(home);
  const { top, topId, git } = here;
  const lost = all.find((one) => isSameElsewhere(one.self, topId) || (one.self === topId && one.paths[0] === top));
  if (lost) return recorded(ofKnownFolder(home, here, lost)); // its file was damaged; the project's own folder knows it too
  const there = all.find((one) => one.paths[0] === top);
  if (there && isSameThere(there.self, topId)) {
    return recorded(ofKnownFolder(home, here, { ...there, self: topId }), [there]); // mounted anew
  }
  if (git) {
    const ofRepository = byRepository(all, here, git);
    if (ofRepository) return ofRepository;
  }
  const older = byOlderPath(home, here);
  if (older) return older;
  if (there && holdsState(home, there.project) && !isElsewhere(there, top))
    return { kind: "unclear", doubt: "replaced", place: there };
  const image = all.find((one) => isImageOf(one.self, topId));
  if (image) return { kind: "unclear", doubt: "image", place: image };
  const namesake = goneNamesake(home, top);
  return { kind: "none", ...(namesake && { namesake }) };
}

function goneNamesake(home: string, top: string): Namesake | undefined {
  const places = allPlaces(home);
  for (const project of projectNames(home)) {
    const origin = readOrigin(home, project);
    const own = places.filter((one) => one.project === project);
    const last = own[0]?.paths[0] ?? (origin && folderOf(origin));
    if (!origin || !last || path.basename(last) !== path.basename(top) || idAt(last) !== undefined) continue;
    if (own.some((one) => isElsewhere(one, last)) || isUnlinked(home, project)) continue;
    if (holdsState(home, project)) return { id: origin.id, path: last };
  }
  return undefined;
}

/** The index is to say so from now on. */
const recorded = (match: Match, instead: FolderRecord[] = []): Match =>
  match.kind === "known" ? { ...match, changed: true, instead } : match;

/** It lives at another path: what stands here is simply another folder. */
const isElsewhere = ({ self, paths }: FolderRecord, than: string): boolean =>
  paths.some((one) => one !== than && isSameElsewhere(self, idAt(one) ?? ""));

function byRepository(all: FolderRecord[], here: Here, git: NonNullable<Here["git"]>): Match | undefined {
  const { top, topId } = here;
  const trees = all.filter(
    (one) =>
      one.common !== undefined &&
      (isSameElsewhere(one.common, git.common) ||
        (one.commonPath === git.commonPath && isSameThere(one.common, git.common))),
  );
  // The main tree's word first: its own git directory is the shared one.
  const owner = trees.find((one) => one.git === one.common) ?? trees[0];
  if (!owner) return undefined;
  const there = trees.find((one) => one.paths[0] === top);
  const { id, project } = owner;
  if (git.kind === "worktree") {
    // Git has made nothing anew, and yet it is another folder.
    if (there?.git !== undefined && isSameThere(there.git, git.id))
      return { kind: "unclear", doubt: "replaced", place: there };
  } else if (there) return { kind: "unclear", doubt: "replaced", place: there };
  else if (owner.commonPath !== git.commonPath) return { kind: "unclear", doubt: "git_moved", place: owner };
  const place: FolderRecord = { id, project, self: topId, paths: [top], ...gitFacts(here) };
  const of = owner.paths[0] ?? git.commonPath;
  return { kind: "known", place, news: { kind: "worktree", of }, changed: true, instead: there ? [there] : [] };
}

/** What older versions kept: found by the path of the git directory, or of the folder. Nothing else is known of it. */
function byOlderPath(home: string, here: Here): Match | undefined {
  const { cwd, top, olderKey } = here;
  const keys = [
    { key: olderKey, self: here.topId, at: top, git: gitFacts(here) },
    { key: top, self: here.topId, at: top, git: gitFacts(here) }, // before it had a repository
    { key: cwd, self: here.cwdId, at: cwd, git: cwd === top ? gitFacts(here) : {} },
  ];
  for (const { key, self, at, git } of keys) {
    if (key === undefined) continue;
    const project = shortHash(key);
    const origin = readOrigin(home, project);
    if (origin?.first || isUnlinked(home, project)) continue;
    if (!origin && !holdsState(home, project)) continue;
    const place: FolderRecord = { id: origin?.id ?? "", project, self, paths: [at], ...git };
    const news: News | undefined = key === olderKey ? undefined : { kind: "repository" };
    return { kind: "known", place, ...(news && { news }), changed: true, instead: [] };
  }
  return undefined;
}

/** What the index knows, and those projects whose place in it was lost. */
export function everyPlace(home: string): FolderRecord[] {
  const places = allPlaces(home);
  const linked = new Set(places.map((one) => one.project));
  for (const project of projectNames(home)) {
    if (linked.has(project) || isUnlinked(home, project)) continue;
    const origin = readOrigin(home, project);
    if (!origin?.first) continue;
    const { path: seen, ...first } = origin.first;
    places.push({ id: origin.id, project, paths: [seen], ...first });
  }
  return places;
}
