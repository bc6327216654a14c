// The list of worktrees that were made here: each with its branch, how far that is from the project's, and what is uncommitted in it.
import { basename, dirname, join, resolve } from "node:path";
import { messageOf } from "../../ledger/error.ts";
import { openDir, type WorktreePlace } from "./make.ts";
import { branchOf, type WorktreeState } from "./port.ts";
import { findRegistered, type Registered, registeredNames } from "./registered.ts";
import { type Git, gitText, openGit, repositoryOf, type WorktreeRepository } from "./repository.ts";
import { countUnmerged, worktreesState } from "./state.ts";

export interface ListedTree {
  name: string;
  branch: string;
  /** Null: the directory is gone, the branch stays. */
  path: string | null;
  /** `CONTEXT/AGENT/CALL` that made it. */
  madeBy?: string;
  /** Commits of its branch that the project's tree does not have, and the other way round. */
  ahead: number;
  behind: number;
  /** Undefined: it could not be looked at, or it is gone. */
  state?: WorktreeState;
  /** Why it could not be looked at. */
  problem?: string;
}

const PREFIX = "refs/heads/holdfast/";

/** Those whose directory is there; `all`: branches of others too. Contract: one that cannot be looked at does not hide the others. */
export async function listTrees(place: WorktreePlace, { all = false }: { all?: boolean } = {}): Promise<ListedTree[]> {
  const main = repositoryOf(place.root);
  const git = await openGit(main, place.dir);
  const dir = openDir(place.dir);
  const branches = new Set(
    (await git(["for-each-ref", "--format=%(refname)", PREFIX]))
      .split("\n")
      .filter(Boolean)
      .map((ref) => ref.slice(PREFIX.length)),
  );
  const found: ListedTree[] = [];
  for (const name of treesIn(main, dir)) {
    const path = join(dir, name);
    const registered = findRegistered(main.common, path);
    if (!registered) continue; // removed since it was listed
    found.push(await describe(git, main, { name, path, registered }, branches));
    branches.delete(name);
  }
  if (all)
    for (const name of branches)
      found.push({ name, branch: branchOf(name), path: null, ...(await distance(git, main, name)) });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names of worktrees that git knows in our folder. */
function treesIn({ common }: WorktreeRepository, dir: string): string[] {
  return registeredNames(join(common, "worktrees")).flatMap((id) => {
    const admin = join(common, "worktrees", id);
    const pointer = gitText(join(admin, "gitdir"));
    const path = pointer === undefined ? "" : dirname(resolve(admin, pointer));
    return dirname(path) === dir ? [basename(path)] : [];
  });
}

async function describe(
  git: Git,
  main: WorktreeRepository,
  tree: { name: string; path: string; registered: Registered },
  branches: ReadonlySet<string>,
): Promise<ListedTree> {
  const { name, path, registered } = tree;
  const { lock } = registered;
  const base = { name, branch: branchOf(name), path, ...(lock?.ours && { madeBy: lock.mark }) };
  if (lock?.ours && lock.phase === "being made") return { ...base, ahead: 0, behind: 0, problem: "it is unfinished" };
  const far = branches.has(name) ? await distance(git, main, name) : { ahead: 0, behind: 0 };
  try {
    return { ...base, ...far, state: await worktreesState(git, tree) };
  } catch (error) {
    return { ...base, ...far, problem: messageOf(error) };
  }
}

export async function distance(
  git: Git,
  main: WorktreeRepository,
  name: string,
): Promise<{ ahead: number; behind: number }> {
  const range = `HEAD...refs/heads/${branchOf(name)}`;
  const counted = await git.ask(["rev-list", "--left-right", "--count", range, "--"], { gitDir: main.gitDir });
  // Without a commit of its own the project has nothing to be compared with.
  if (counted.code !== 0) return { ahead: await countUnmerged(git, branchOf(name)).catch(() => 0), behind: 0 };
  const [behind = 0, ahead = 0] = counted.out.trim().split(/\s+/).map(Number);
  return { ahead, behind };
}
