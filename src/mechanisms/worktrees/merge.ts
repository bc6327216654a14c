// Taking a worktree's branch over into the project's tree: only where nothing of the user's can be lost, and whole or not at all.

import { lstatSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { crashPoint } from "../../ledger/crash-point.ts";
import { counted } from "../../text/counted.ts";
import { baseOf } from "./compare.ts";
import { openDir, type WorktreePlace } from "./make.ts";
import { branchOf, checkWorktreeName, stateLines } from "./port.ts";
import { findRegistered, isRegistered } from "./registered.ts";
import { type Git, NOT_INTO_SUBMODULES, openGit, repositoryOf, type WorktreeRepository } from "./repository.ts";
import { OPERATIONS, worktreesState } from "./state.ts";
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
export async function mergeTree(place: WorktreePlace, name: string, opts: MergeOptions): Promise<MergedTree> {
  checkWorktreeName(name);
  const dir = openDir(place.dir);
  return inTurn({ dir, name }, async ({ descriptor }) => {
    const main = repositoryOf(place.root);
    const git = await openGit(main, place.dir, descriptor);
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
    const tree = await joinedTree(git, main, branch);
    crashPoint("worktree.merging");
    await merge(git, main, { branch, into, tree });
    return { ...done, commits, files: touched.length, head: await headOf(git, main) };
  });
}

const headOf = async (git: Git, { gitDir }: WorktreeRepository): Promise<string> =>
  (await git(["rev-parse", "--verify", "HEAD^{commit}"], { gitDir })).trim();

const byHand = ({ top }: WorktreeRepository, branch: string): string => `by hand: cd ${top} && git merge ${branch}`;

/** The branch that the project's tree is on, ready to be merged into. */
async function checkTarget(git: Git, main: WorktreeRepository): Promise<string> {
  const at = await git.ask(["symbolic-ref", "--quiet", "--short", "HEAD"], { gitDir: main.gitDir });
  if (at.code !== 0) throw refused(`the project's tree ${main.top} is on no branch: check one out, then merge into it`);
  const operation = OPERATIONS.find(([file]) => isRegistered(join(main.gitDir, file)))?.[1];
  if (operation) throw refused(`a ${operation} is going on in ${main.top}: finish or abort it first`);
  const programs = mergeProgramsOf(git);
  if (programs.length > 0)
    throw refused(
      `the repository's own configuration names programs for merging (${programs.slice(0, NAMED).join(", ")}), and they are not run from here: merge it with git yourself`,
    );
  return at.out.trim();
}

/** Programs that git would start to join two versions of a file, named by the repository's own configuration. */
const mergeProgramsOf = ({ configured }: Git): string[] =>
  configured
    .filter(({ scope, key }) => scope === "repository" && /^merge\..+\.driver$/.test(key))
    .map(({ key }) => key);

/** Contract: afterwards nothing that is in the worktree is missing in its branch; gives the commit that it took. */
async function commitRest(
  git: Git,
  main: WorktreeRepository,
  { name, path }: { name: string; path: string },
  { commit, usedBy }: MergeOptions,
): Promise<string | undefined> {
  const registered = findRegistered(main.common, path);
  if (!registered) return undefined; // only the branch is left of it
  const state = await worktreesState(git, { name, path, registered });
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
  await addAll(git, at, name);
  await git(["commit", "--quiet", "--no-verify", "--no-status", "--message", commit], at);
  crashPoint("worktree.committed");
  return (await git(["rev-parse", "--verify", "HEAD^{commit}"], at)).trim();
}

/** As `git add --all`, which would look into each repository that lies in the tree. */
async function addAll(git: Git, at: { gitDir: string; tree: string }, name: string): Promise<void> {
  const entries = await entriesIn(git, at);
  const nested = entries.filter((entry) => entry[0] === "?" && entry.endsWith("/")).map(pathIn);
  if (nested.length > 0)
    throw refused(
      `in the worktree ${name} lies a repository of its own (${nested.slice(0, NAMED).join(", ")}), and its files would not come along: move it away or delete its .git, in ${at.tree}`,
    );
  const isGone = (entry: string) => /^[12] .D /.test(entry);
  const isChanged = (entry: string) => /^[?u] |^[12] .[^.D] /.test(entry);
  for (const [flags, chosen] of [
    [["--force-remove"], entries.filter(isGone)],
    [["--add", "--remove", "--replace"], entries.filter(isChanged)],
  ] as const)
    if (chosen.length > 0)
      await git(["update-index", ...flags, "-z", "--stdin"], { ...at, input: `${chosen.map(pathIn).join("\0")}\0` });
}

/** Of `git status --porcelain=v2`: what is changed or not known, one entry each. */
async function entriesIn(git: Git, at: { gitDir: string; tree: string }): Promise<string[]> {
  const args = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", NOT_INTO_SUBMODULES];
  return (await git(args, at)).split("\0").filter((entry) => /^[12u?]/.test(entry));
}

interface Touched {
  path: string;
  isNew: boolean;
}

/** What the branch changed since it left. */
async function touchedBy(git: Git, main: WorktreeRepository, ref: string): Promise<Touched[]> {
  const args = ["diff", "--no-ext-diff", "--no-textconv", "--name-status", "--no-renames", "-z", `HEAD...${ref}`, "--"];
  const parts = (await git(args, { gitDir: main.gitDir })).split("\0").filter(Boolean);
  const found: Touched[] = [];
  for (let i = 0; ; i += 2) {
    const { [i]: kind, [i + 1]: path } = parts;
    if (path === undefined) return found;
    found.push({ path, isNew: kind === "A" });
  }
}

/** What the user has in the project's tree that is in no commit is not touched, whether git ignores it or not. */
async function checkUntouched(
  git: Git,
  main: WorktreeRepository,
  { touched, branch }: { touched: Touched[]; branch: string },
): Promise<void> {
  const place = { gitDir: main.gitDir, tree: main.top };
  const entries = await entriesIn(git, place);
  const staged = entries.filter((entry) => entry[0] !== "?" && entry[2] !== ".").length;
  if (staged > 0)
    throw refused(`${counted(staged, "staged change")} in ${main.top}: commit or unstage what is staged first`);
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
    `${branch} changes ${counted(lost.length, "file")} that you have in ${main.top} and that ${lost.length === 1 ? "is" : "are"} not committed (${names}): commit, stash or move ${lost.length === 1 ? "it" : "them"} first`,
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

/** Joined without touching anything first: a merge that conflicts is never begun. Undefined: a git that does not know this (before 2.38). */
async function joinedTree(git: Git, main: WorktreeRepository, branch: string): Promise<string | undefined> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "HEAD", `refs/heads/${branch}`];
  const { code, out } = await git.ask(args, { gitDir: main.gitDir });
  const [tree, ...names] = out.split("\0").filter(Boolean);
  if (code === 1) throw conflicting(main, branch, [...new Set(names)]);
  return code === 0 ? tree : undefined;
}

interface Merging {
  branch: string;
  into: string;
  tree: string | undefined;
}

/**
 * What was joined is committed beside the tree, and the tree brought there in one step. A merge by git itself would stash first, and with
 * that look into the repositories that lie in the tree; one that cannot join beside the tree does not stash yet.
 */
async function merge(git: Git, main: WorktreeRepository, { branch, into, tree }: Merging): Promise<void> {
  const place = { gitDir: main.gitDir, tree: main.top, apart: true };
  const ref = `refs/heads/${branch}`;
  const message = `Merge branch '${branch}' into ${into}`;
  const quietly = ["merge", "--quiet", "--no-stat", "--no-autostash", "--no-verify", "--no-verify-signatures"];
  const ff = git.configured.findLast(({ key }) => key === "merge.ff")?.value.toLowerCase() ?? "true";
  const isForward =
    !/^(?:false|no|off|0)$/.test(ff) && (await git.ask(["merge-base", "--is-ancestor", "HEAD", ref], place)).code === 0;
  if (isForward || ff === "only" || tree !== undefined) {
    const isCommitted = tree === undefined || isForward || ff === "only";
    const target = isCommitted ? ref : await commitOf(git, main, { tree, ref, message });
    const { code, why } = await git.ask([...quietly, "--ff-only", target], place);
    if (code !== 0) throw refused(`nothing was merged: ${why}`);
    return;
  }
  const { code, why } = await git.ask([...quietly, "--no-edit", "-m", message, ref], place);
  if (code === 0) return;
  if (!isRegistered(join(main.gitDir, "MERGE_HEAD"))) throw refused(`nothing was merged: ${why}`);
  const names = await git(["diff", "--name-only", "--diff-filter=U", NOT_INTO_SUBMODULES, "-z"], place);
  await git(["merge", "--abort"], place);
  throw conflicting(main, branch, names.split("\0").filter(Boolean));
}

async function commitOf(
  git: Git,
  { gitDir }: WorktreeRepository,
  { tree, ref, message }: { tree: string; ref: string; message: string },
): Promise<string> {
  const args = ["commit-tree", tree, "-p", "HEAD", "-p", ref, "-m", message];
  const { code, out, why } = await git.ask(args, { gitDir });
  if (code !== 0) throw refused(`nothing was merged: ${why}`);
  return out.trim();
}

function conflicting(main: WorktreeRepository, branch: string, names: string[]) {
  const shown = names.slice(0, NAMED).join(", ") + (names.length > NAMED ? ", …" : "");
  const many = counted(names.length, "file");
  return refused(
    `${branch} and the project's tree both changed ${many} (${shown}), and git cannot join that by itself: nothing was merged. Do it ${byHand(main, branch)}`,
  );
}
