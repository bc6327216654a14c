// Making a worktree, step by step: what a killed process left is told from the repository alone, and finished.
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { crashPoint } from "../../ledger/crash-point.ts";
import { messageOf } from "../../ledger/error.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { linkFolders } from "./links.ts";
import { sparseSettings } from "./own-settings.ts";
import { branchOf, checkWorktreeName, type Made, type MakePlan, type Remade } from "./port.ts";
import { dropLeftovers, findRegistered, isRegistered, reasonOf, registeredNames, writeLock } from "./registered.ts";
import { type Git, headOf, NOT_INTO_SUBMODULES, openGit, repositoryOf, type WorktreeRepository } from "./repository.ts";
import { afterOthers, type HeldTurn, inTurn } from "./turns.ts";

export interface WorktreePlace {
  /** Holds the worktrees, by its real path. */
  dir: string;
  /** The project's own tree. */
  root: string;
  link: readonly string[];
}

/** By its real path. */
export function openDir(dir: string): string {
  makeDir(dir);
  return realpathSync.native(dir);
}

export async function planMake(
  place: WorktreePlace,
  name: string,
  opts: { from: string; mark: string },
): Promise<MakePlan> {
  checkWorktreeName(name);
  const main = repositoryOf(place.root);
  const from = repositoryOf(opts.from);
  if (from.common !== main.common) throw refused(`${opts.from} belongs to another repository than ${place.root}`);
  const git = await openGit(main, place.dir);
  const dir = openDir(place.dir);
  const path = join(dir, name);
  const branch = branchOf(name);
  return afterOthers({ dir, name }, async () => {
    const begun = findRegistered(main.common, path);
    if (begun?.lock?.ours && begun.lock.phase === "being made") {
      const head = git(["rev-parse", "--verify", "HEAD^{commit}"], { gitDir: begun.admin });
      const commit = (await head.catch(() => "")).trim();
      if (commit === "")
        throw refused(
          `the worktree ${name} was begun and cut off before it had a commit: choose another name, or clear it with \`git worktree remove -f -f ${path}\``,
        );
      return { name, path, branch, commit, mark: begun.lock.mark, from: opts.from };
    }
    const commit = await headOf(git, from);
    await checkFree(git, main, { name, path, branch });
    return { name, path, branch, commit, mark: opts.mark, from: opts.from };
  });
}

/** Contract: throws `refused`; nothing that is there already is ever taken for ours. */
async function checkFree(
  git: Git,
  { common }: WorktreeRepository,
  { name, path, branch }: Pick<MakePlan, "name" | "path" | "branch">,
): Promise<void> {
  if (findRegistered(common, path))
    throw refused(`there is a worktree ${name} already, in ${path}: choose another name`);
  if (isRegistered(path))
    throw refused(`${path} is there already, and is no worktree of this project: choose another name`);
  const taken = await git(["for-each-ref", "--format=%(refname:short)", "refs/heads/holdfast", `refs/heads/${branch}`]);
  const names = taken.split("\n").filter(Boolean);
  if (names.includes("holdfast"))
    throw refused("there is a branch named holdfast, so that none can be named holdfast/…: rename it first");
  if (names.includes(branch))
    throw refused(
      `the branch ${branch} is there already (it stays when a worktree goes): choose another name, or delete the branch yourself`,
    );
}

/** What is planned stands in a ledger meanwhile, which may say anything: place and branch follow from the name alone. */
export function ownPlan<P extends { name: string; path: string; branch: string }>(place: WorktreePlace, plan: P): P {
  checkWorktreeName(String(plan.name));
  return { ...plan, path: join(openDir(place.dir), plan.name), branch: branchOf(plan.name) };
}

/** A commit by its name, or none: nothing that git would take for an option. */
function checkCommit({ commit, name }: MakePlan): void {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})?$/.test(commit)) throw refused(`the worktree ${name} has no commit to begin at`);
}

export async function make(place: WorktreePlace, given: MakePlan): Promise<Made> {
  const plan = ownPlan(place, given);
  checkCommit(plan);
  return inTurn({ dir: openDir(place.dir), name: plan.name }, async (held) => {
    const at = await open(place, held);
    const begun = findRegistered(at.main.common, plan.path);
    if (!(begun?.lock?.ours && begun.lock.phase === "being made" && begun.lock.mark === plan.mark)) {
      await checkFree(at.git, at.main, plan);
      await add(at, plan, ["-b", plan.branch, plan.path, plan.commit]);
    }
    return finish(at, plan);
  });
}

export async function resumeMake(place: WorktreePlace, given: MakePlan): Promise<Made | undefined> {
  const plan = ownPlan(place, given);
  return inTurn({ dir: openDir(place.dir), name: plan.name }, async (held) => {
    const at = await open(place, held);
    const begun = findRegistered(at.main.common, plan.path);
    if (begun?.lock?.ours && begun.lock.mark === plan.mark) return finish(at, plan);
    if (begun) throw refused(`somebody else made a worktree ${plan.name} meanwhile: choose another name`);
    const tip = await at.git(["for-each-ref", "--format=%(objectname)", `refs/heads/${plan.branch}`]);
    if (tip.trim() === "") return undefined;
    if (tip.trim() !== plan.commit || registeredNames(plan.path).length > 0) return undefined; // not ours: the next try says so
    await add(at, plan, [plan.path, plan.branch]); // git came no further than its branch
    return finish(at, plan);
  });
}

/** The one that was made for the same reason before, or a new one. */
export async function ensure(
  place: WorktreePlace,
  name: string,
  opts: { from: string; mark: string },
): Promise<string> {
  checkWorktreeName(name);
  const path = join(openDir(place.dir), name);
  const there = findRegistered(repositoryOf(place.root).common, path);
  if (there?.lock?.ours && there.lock.mark === opts.mark)
    await resumeMake(place, { name, path, branch: branchOf(name), commit: "", ...opts });
  else await make(place, await planMake(place, name, opts));
  return path;
}

/** The one that was made for the same reason before, or a new one at what is known here of its branch. */
export async function remake(
  place: WorktreePlace,
  name: string,
  opts: { from: string; mark: string },
): Promise<Remade> {
  checkWorktreeName(name);
  const dir = openDir(place.dir);
  const path = join(dir, name);
  const branch = branchOf(name);
  return inTurn({ dir, name }, async (held) => {
    const at = await open(place, held);
    const begun = findRegistered(at.main.common, path);
    if (begun?.lock?.ours && begun.lock.mark === opts.mark) {
      const commit = (await at.git(["rev-parse", "--verify", "HEAD^{commit}"], { gitDir: begun.admin })).trim();
      await finish(at, { name, path, branch, commit, ...opts });
      return { path, branch, commit };
    }
    const tip = async (ref: string) =>
      (await at.git(["for-each-ref", "--count=1", "--format=%(objectname)", ref])).trim() || undefined;
    const own = await tip(`refs/heads/${branch}`);
    const fetched = own ?? (await tip(`refs/remotes/*/${branch}`));
    const commit = fetched ?? (await headOf(at.git, repositoryOf(opts.from)));
    const plan = { name, path, branch, commit, ...opts };
    checkCommit(plan);
    if (own === undefined) await checkFree(at.git, at.main, plan);
    await add(at, plan, own === undefined ? ["-b", branch, path, commit] : [path, branch]);
    await finish(at, plan);
    return { path, branch, commit, begins: fetched === undefined ? "project" : "branch" };
  });
}

interface At {
  git: Git;
  main: WorktreeRepository;
  link: readonly string[];
}

async function open(place: WorktreePlace, held: HeldTurn): Promise<At> {
  const main = repositoryOf(place.root);
  return { main, git: await openGit(main, place.dir, held.descriptor), link: place.link };
}

async function add({ git, main }: At, plan: MakePlan, what: string[]): Promise<void> {
  makeDir(join(main.common, "worktrees"), 0o777); // git makes nothing where a link leads
  const lock = ["--lock", "--reason", reasonOf("being made", plan.mark)];
  try {
    await git(["worktree", "add", "--quiet", "--no-checkout", "--no-track", ...lock, ...what]);
  } catch (error) {
    throw refused(`the worktree ${plan.name} could not be made: ${messageOf(error)}`);
  }
  crashPoint("worktree.added");
}

/** Every step may be done twice. */
async function finish({ git, main, link }: At, plan: MakePlan): Promise<Made> {
  const { path, name } = plan;
  const registered = findRegistered(main.common, path);
  if (!registered?.lock?.ours) throw refused(`the worktree ${name} is gone again: see \`git worktree list\``);
  const { admin, lock } = registered;
  const says: string[] = [];
  if (lock.phase === "being made") {
    dropLeftovers(admin, { index: true });
    writeFileSync(join(path, ".git"), `gitdir: ${admin}\n`); // git has written by which way it came there
    const sparse = sparseSettings(git.configured);
    if (sparse !== undefined) writeFileSync(join(admin, "config.worktree"), sparse);
    try {
      await git(["reset", "--hard", "--quiet", "--no-recurse-submodules"], { gitDir: admin, tree: path });
    } catch (error) {
      throw refused(
        `the files of the worktree ${name} could not be written: ${messageOf(error)}; when that is mended, create_worktree ${name} goes on with it`,
      );
    }
    crashPoint("worktree.checked-out");
    says.push(...(await linkFolders(link, { git, main, path, admin })));
    crashPoint("worktree.linked");
    writeLock(admin, reasonOf("in use", lock.mark));
  }
  crashPoint("worktree.made");
  if (isRegistered(join(path, ".gitmodules"))) says.push("submodules are not initialised in it");
  const left = await uncommittedIn(git, plan.from);
  if (left > 0) says.push(`not in it: ${left} uncommitted changes of ${plan.from}`);
  return { says };
}

async function uncommittedIn(git: Git, tree: string): Promise<number> {
  const { gitDir, top } = repositoryOf(tree);
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", NOT_INTO_SUBMODULES];
  const text = await git(args, { gitDir, tree: top }).catch(() => ""); // said for convenience only
  return text.split("\0").filter(Boolean).length;
}
