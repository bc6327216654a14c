// Owns taking a worktree's branch over into the project's tree: only where nothing of the user's can be lost, and whole or not at all.
import { lstatSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { crashPoint } from "../../ledger/crash-point.ts";
import { refused } from "../../tools/refused.ts";
import { branchOf, checkWorktreeName, stateLines } from "../../tools/worktrees.ts";
import { baseOf } from "./compare.ts";
import { openDir, type Place } from "./make.ts";
import { findRegistered, isThere } from "./registered.ts";
import { type Git, mergeProgramsOf, openGit, type Repository, repositoryOf } from "./repository.ts";
import { OPERATIONS, stateOf } from "./state.ts";
import { inTurn } from "./turns.ts";

export interface MergeOptions {
  /** What is uncommitted in the worktree is committed on its branch first, with this message. */
  commit?: string;
  /** Who works in it, one phrase each: nobody's half work is committed. */
  usedBy(path: string): Promise<string[]>;
}

export interface MergedTree {
  branch: string;
  /** The branch that it was merged into. */
  into: string;
  /** How many commits came, and files that they change. 0: there was nothing to take over. */
  commits: number;
  files: number;
  head: string;
  /** The commit of what had been uncommitted. */
  committed?: string;
}

const NAMED = 5;

/** Contract: a refusal throws `refused` with what to do; the project's tree is then as it was. */
export async function mergeTree(place: Place, name: string, opts: MergeOptions): Promise<MergedTree> {
  checkWorktreeName(name);
  const dir = openDir(place.dir);
  return inTurn({ dir, name }, async ({ descriptor }) => {
    const main = repositoryOf(place.root);
    const git = await openGit(main, descriptor);
    const into = await checkTarget(git, main);
    await baseOf(git, main, name); // there is such a branch
    const committed = await commitRest(git, main, { name, path: join(dir, name) }, opts);
    const branch = branchOf(name);
    const ref = `refs/heads/${branch}`;
    const commits = Number(await git(["rev-list", "--count", `HEAD..${ref}`, "--"], { gitDir: main.gitDir }));
    const done = { branch, into, ...(committed && { committed }) };
    if (commits === 0) return { ...done, commits, files: 0, head: await headOf(git, main) };
    const touched = await touchedBy(git, main, ref);
    await checkUntouched(git, main, { touched, branch });
    await checkClean(git, main, branch);
    crashPoint("worktree.merging");
    await merge(git, main, { branch, into });
    return { ...done, commits, files: touched.length, head: await headOf(git, main) };
  });
}

const headOf = async (git: Git, { gitDir }: Repository): Promise<string> =>
  (await git(["rev-parse", "--verify", "HEAD^{commit}"], { gitDir })).trim();

const byHand = ({ top }: Repository, branch: string): string => `by hand: cd ${top} && git merge ${branch}`;

/** The branch that the project's tree is on, ready to be merged into. */
async function checkTarget(git: Git, main: Repository): Promise<string> {
  const at = await git.ask(["symbolic-ref", "--quiet", "--short", "HEAD"], { gitDir: main.gitDir });
  if (at.code !== 0) throw refused(`the project's tree ${main.top} is on no branch: check one out, then merge into it`);
  const operation = OPERATIONS.find(([file]) => isThere(join(main.gitDir, file)))?.[1];
  if (operation) throw refused(`a ${operation} is going on in ${main.top}: finish or abort it first`);
  const programs = await mergeProgramsOf(git, main.gitDir);
  if (programs.length > 0)
    throw refused(
      `the repository's own configuration names programs for merging (${programs.slice(0, NAMED).join(", ")}), and they are not run from here: merge it with git yourself`,
    );
  return at.out.trim();
}

/** Contract: afterwards nothing that is in the worktree is missing in its branch; gives the commit that it took. */
async function commitRest(
  git: Git,
  main: Repository,
  { name, path }: { name: string; path: string },
  { commit, usedBy }: MergeOptions,
): Promise<string | undefined> {
  const registered = findRegistered(main.common, path);
  if (!registered) return undefined; // only the branch is left of it
  const state = await stateOf(git, { name, path, registered });
  const { staged, unstaged, untracked, elsewhere, operation } = state;
  if (operation)
    throw refused(`a ${operation} is going on in the worktree ${name} (${path}): finish or abort it first`);
  if (elsewhere)
    throw refused(
      `the worktree ${name} is not on its branch ${state.branch} but on ${elsewhere}: put its commits there first (in ${path})`,
    );
  if (staged + unstaged + untracked === 0) return undefined;
  const [changes] = stateLines({ ...state, unmerged: 0 });
  if (commit === undefined)
    throw refused(
      `the worktree ${name} has work that is not committed: ${changes}. Add --commit to commit it on ${state.branch} first, or commit or discard it in ${path}`,
    );
  const users = await usedBy(path);
  if (users.length > 0)
    throw refused(`the worktree ${name} is in use, and nobody's half work is committed: ${users.join("; ")}`);
  const at = { gitDir: registered.admin, tree: path };
  await git(["add", "--all"], at);
  await git(["commit", "--quiet", "--no-verify", "--message", commit], at);
  crashPoint("worktree.committed");
  return (await git(["rev-parse", "--verify", "HEAD^{commit}"], at)).trim();
}

interface Touched {
  path: string;
  isNew: boolean;
}

/** What the branch changed since it left. */
async function touchedBy(git: Git, main: Repository, ref: string): Promise<Touched[]> {
  const args = ["diff", "--no-ext-diff", "--no-textconv", "--name-status", "--no-renames", "-z", `HEAD...${ref}`, "--"];
  const parts = (await git(args, { gitDir: main.gitDir })).split("\0").filter(Boolean);
  const found: Touched[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) found.push({ path: parts[i + 1]!, isNew: parts[i] === "A" });
  return found;
}

/** What the user has in the project's tree that is in no commit is not touched, whether git ignores it or not. */
async function checkUntouched(
  git: Git,
  main: Repository,
  { touched, branch }: { touched: Touched[]; branch: string },
): Promise<void> {
  const place = { gitDir: main.gitDir, tree: main.top };
  const status = [
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=none",
  ];
  const entries = (await git(status, place)).split("\0").filter((entry) => /^[12u?]/.test(entry));
  const staged = entries.filter((entry) => entry[0] !== "?" && entry[2] !== ".").length;
  if (staged > 0)
    throw refused(
      `${staged} staged ${staged === 1 ? "change" : "changes"} in ${main.top}: commit or unstage what is staged first`,
    );
  const hidden = (await git(["ls-files", "-v", "-z"], place)).split("\0").filter((entry) => /^[a-zS] /.test(entry));
  const changed = new Set([...entries.map(pathIn), ...hidden.map((entry) => entry.slice(2))]);
  const kept = new Set((await git(["ls-files", "-z"], place)).split("\0"));
  const lost = touched.filter(
    ({ path, isNew }) => changed.has(path) || (isNew && !kept.has(path) && isInTheWay(main.top, path, kept)),
  );
  if (lost.length === 0) return;
  const names =
    lost
      .slice(0, NAMED)
      .map(({ path }) => path)
      .join(", ") + (lost.length > NAMED ? ", …" : "");
  throw refused(
    `${branch} changes ${lost.length} ${lost.length === 1 ? "file that you have" : "files that you have"} in ${main.top} and that ${lost.length === 1 ? "is" : "are"} not committed (${names}): commit, stash or move ${lost.length === 1 ? "it" : "them"} first`,
  );
}

/** Of an entry of `git status --porcelain=v2`. */
const pathIn = (entry: string): string =>
  entry[0] === "?"
    ? entry.slice(2)
    : entry
        .split(" ")
        .slice(entry[0] === "u" ? 10 : 8)
        .join(" ");

/** Something that is in no commit lies where the file is to be, or where its folder is. */
function isInTheWay(top: string, path: string, kept: ReadonlySet<string>): boolean {
  if (statOf(join(top, path))) return true;
  for (let dir = dirname(path); dir !== "."; dir = dirname(dir)) {
    const stat = statOf(join(top, dir));
    if (stat && !stat.isDirectory() && !kept.has(dir)) return true;
  }
  return false;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined; // not there, or no folder leads to it
  }
}

/** Joined without touching anything first: a merge that conflicts is never begun. */
async function checkClean(git: Git, main: Repository, branch: string): Promise<void> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "HEAD", `refs/heads/${branch}`];
  const { code, out } = await git.ask(args, { gitDir: main.gitDir });
  if (code !== 1) return; // clean, or a git that does not know this: then the merge itself says
  const [, ...names] = out.split("\0").filter(Boolean);
  throw conflicting(main, branch, [...new Set(names)]);
}

async function merge(git: Git, main: Repository, { branch, into }: { branch: string; into: string }): Promise<void> {
  const place = { gitDir: main.gitDir, tree: main.top, apart: true };
  const args = [
    "merge",
    "--quiet",
    "--no-edit",
    "--no-stat",
    "--no-autostash",
    "--no-verify",
    "--no-verify-signatures",
  ];
  const message = `Merge branch '${branch}' into ${into}`;
  const { code, why } = await git.ask([...args, "-m", message, `refs/heads/${branch}`], place);
  if (code === 0) return;
  if (!isThere(join(main.gitDir, "MERGE_HEAD"))) throw refused(`nothing was merged: ${why}`);
  const names = await git(["diff", "--name-only", "--diff-filter=U", "-z"], place);
  await git(["merge", "--abort"], place);
  throw conflicting(main, branch, names.split("\0").filter(Boolean));
}

function conflicting(main: Repository, branch: string, names: string[]) {
  const shown = names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ", …" : "");
  const many = names.length === 1 ? "1 file" : `${names.length} files`;
  return refused(
    `${branch} and the project's tree both changed ${many} (${shown}), and git cannot join that by itself: nothing was merged. Do it ${byHand(main, branch)}`,
  );
}
