// Links from a worktree to folders of the main tree that git does not keep (node_modules): made once, never followed when it goes.
import { appendFileSync, lstatSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { refused } from "../../file-access/refused.ts";
import { messageOf } from "../../ledger/error.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import type { Git, WorktreeRepository } from "./repository.ts";

export interface LinkPlace {
  git: Git;
  /** The tree that the folders are in. */
  main: WorktreeRepository;
  path: string;
  admin: string;
}

/** Contract: one line for each; what cannot be linked is said, and stops nothing. */
export async function linkFolders(folders: readonly string[], place: LinkPlace): Promise<string[]> {
  const says: string[] = [];
  for (const folder of folders) {
    try {
      const made = await linkFolder(folder, place);
      if (made !== undefined) says.push(made);
    } catch (error) {
      says.push(`not linked: ${folder}: ${messageOf(error)}`);
    }
  }
  return says;
}

async function linkFolder(given: string, { git, main, path, admin }: LinkPlace): Promise<string | undefined> {
  const folder = normalize(given).replace(/\/+$/, "");
  const parts = folder.split("/");
  if (isAbsolute(given) || parts.some((part) => part === ".." || part === "" || part === "."))
    throw refused("it must lie below the main tree");
  if (parts.some((part) => part.toLowerCase() === ".git")) throw refused("it belongs to git");
  const target = join(main.top, folder);
  const stat = lstatSync(target, { throwIfNoEntry: false });
  if (!stat) return undefined; // not installed here: nothing to share
  if (!stat.isDirectory()) throw refused("it is not a folder");
  if (!isInside(main.top, realpathSync.native(target))) throw refused("it leads out of the main tree");
  const inMain = { gitDir: main.gitDir, tree: main.top };
  if ((await git(["ls-files", "-z", "--", folder], inMain)) !== "") throw refused("git keeps files of it");
  const ignored = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", folder];
  if (!(await git(ignored, inMain)).split("\0").includes(`${folder}/`)) throw refused("git does not ignore it");
  const link = join(path, folder);
  const there = lstatSync(link, { throwIfNoEntry: false });
  if (there?.isSymbolicLink() && realpathSync.native(link) === realpathSync.native(target)) return `linked: ${folder}`;
  if (there) throw refused("something of that name is there already");
  if (!isInside(path, realpathSync.native(makeParent(link)))) throw refused("its parent leads out of the worktree");
  symlinkSync(target, link);
  await keepOutOfSight(git, { main, path, admin, folder });
  return `linked: ${folder}`;
}

function makeParent(link: string): string {
  makeDir(dirname(link), 0o777);
  return dirname(link);
}

/** `node_modules/` in a .gitignore means folders only: the link would be seen, and committed. Nothing else is hidden by the line. */
async function keepOutOfSight(git: Git, of: Omit<LinkPlace, "git"> & { folder: string }): Promise<void> {
  const args = ["ls-files", "-z", "--others", "--exclude-standard", "--", of.folder];
  if ((await git(args, { gitDir: of.admin, tree: of.path })) === "") return;
  const file = join(of.main.common, "info", "exclude");
  makeDir(dirname(file), 0o777);
  const line = `/${of.folder.replace(/[*?[\]\\!# ]/g, "\\$&")}`;
  const text = lstatSync(file, { throwIfNoEntry: false }) ? readFileSync(file, "utf8") : "";
  if (text.split("\n").includes(line)) return;
  appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
}
