// Where instructions stand, in the one order that every agent reads them in: the user's, the project's, then those nearer to the work.
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { definitionFiles } from "../../definitions/definition-files.ts";
import { realPath } from "../../file-access/paths.ts";

export interface InstructionsPlace {
  file: string;
  /** How people know it: inside the project relative to it, in the home directory with `~`. */
  shown: string;
  /** Why it is read, in a person's words. */
  why: string;
  /** The file that imports it. */
  importedBy?: string;
  /** Of a rule: what its paths are relative to; none: the project that is worked in. */
  base?: string;
}

export interface UserPlaces {
  home: string;
  configHome: string;
}

/** Within one folder the later ones are nearer to the person: rules of a team, then a person's own. */
const IN_FOLDER = ["AGENTS.md", "CLAUDE.md", join(".claude", "CLAUDE.md")];
export const OWN_IN_FOLDER = "CLAUDE.local.md";
const RULES = join(".claude", "rules");

export function userPlaces({ home, configHome }: UserPlaces): InstructionsPlace[] {
  const files = [
    join(configHome, "holdfast", "AGENTS.md"),
    join(home, ".holdfast", "AGENTS.md"),
    join(home, ".claude", "CLAUDE.md"),
    ...rulesIn(join(home, RULES)),
  ];
  return files.map((file) => ({ file, shown: withTilde(file, home), why: "yours, for every project" }));
}

/**
 * From the top of the repository down to where the work begins. `main`: the tree that the context began in; a worktree has no file that
 * git does not know, so the person's own of that tree holds there too.
 */
export function projectPlaces(root: string, main: string): InstructionsPlace[] {
  const above = [...foldersTo(topOf(root), root).slice(0, -1)];
  const folders = [...new Set([topOf(root), ...above, root])];
  const own = join(root, OWN_IN_FOLDER);
  const isElsewhere = root !== main && !existsSync(own);
  return [
    ...folders.flatMap((folder) => [
      ...IN_FOLDER.map((name) => ({ file: join(folder, name), why: "the project's" })),
      ...rulesIn(join(folder, RULES)).map((file) => ({ file, why: "a rule of the project", base: folder })),
      { file: join(folder, OWN_IN_FOLDER), why: "yours, for this project" },
    ]),
    ...(isElsewhere ? [{ file: join(main, OWN_IN_FOLDER), why: "yours, for this project" }] : []),
  ].map((place) => ({ ...place, shown: relative(root, place.file) }));
}

/** Of a worktree that git made: the tree that it belongs to. Undefined: it is none. A file `.git` may come with any archive: only what points back is believed. */
export function mainTreeOf(root: string): string | undefined {
  const link = join(topOf(root), ".git");
  if (!lstatSync(link, { throwIfNoEntry: false })?.isFile()) return undefined;
  const [, own, main] = /^gitdir: ((.+)\/\.git\/worktrees\/[^/]+?)\s*$/.exec(beginningOf(link)) ?? [];
  if (own === undefined || main === undefined) return undefined;
  const back = join(own, "gitdir");
  if (!lstatSync(back, { throwIfNoEntry: false })?.isFile()) return undefined;
  return realPath(beginningOf(back).trim()) === realPath(link) ? main : undefined;
}

/** As much as a path can have. */
const beginningOf = (file: string): string => readFileSync(file, "utf8").slice(0, 4096);

/** The top of the repository that a folder lies in; without one the folder itself. */
export function topOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return folder;
  }
}

export function folderPlaces(root: string, folder: string): InstructionsPlace[] {
  const why = `for ${relative(root, folder)}`;
  return [...IN_FOLDER, OWN_IN_FOLDER].map((name) => {
    const file = join(folder, name);
    return { file, shown: relative(root, file), why };
  });
}

/** The folders between the root and this one, outermost first, without the root. */
export function foldersTo(root: string, folder: string): string[] {
  const way: string[] = [];
  for (let at = folder; at !== root && at.startsWith(`${root}/`); at = dirname(at)) way.unshift(at);
  return way;
}

const rulesIn = (dir: string): string[] => definitionFiles(dir).files.map((file) => join(dir, file));

export const withTilde = (file: string, home: string): string =>
  file.startsWith(`${home}/`) ? `~/${relative(home, file)}` : file;

/** A rule says in its front matter for which paths it is; other files of instructions have none. */
export const isRule = (file: string): boolean =>
  dirname(file).split("/").includes("rules") && basename(file).endsWith(".md");
