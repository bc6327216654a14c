// Owns git in the user's own repository: which one a tree belongs to, and runs of git there that execute nothing of the repository's.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type GitCall, type OwnRepository, runGit, tryGit } from "../../contexts/files/git.ts";
import { findRepository } from "../../contexts/files/repository.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { refused } from "../../tools/refused.ts";

export interface Repository {
  /** The tree that was asked about. */
  top: string;
  /** Where that tree keeps its HEAD and index. */
  gitDir: string;
  /** What all its trees share. */
  common: string;
}

interface GitRun {
  input?: string;
  gitDir?: string;
  tree?: string;
  /** Ctrl-C at the terminal does not reach it. */
  apart?: boolean;
}

/** `ask` takes an exit code that is no success for an answer. */
export interface Git {
  (args: string[], opts?: GitRun): Promise<string>;
  ask(args: string[], opts?: GitRun): Promise<{ code: number; out: string; why: string }>;
}

/** Values that would hide changes, or look for more than was asked. */
const LOOKING: OwnRepository["config"] = [
  ["status.showUntrackedFiles", "all"],
  ["status.branch", "false"],
  ["status.relativePaths", "false"],
  ["core.ignoreStat", "false"],
  ["core.quotePath", "false"],
  ["core.trustctime", "true"],
  ["core.checkStat", "default"],
  ["worktree.guessRemote", "false"],
  ["worktree.useRelativePaths", "false"],
  ["gc.worktreePruneExpire", "never"],
];

/** Contract: throws `refused`; an isolation that cannot be had is never replaced by the tree at hand. */
export function repositoryOf(root: string): Repository {
  const found = findRepository(realpathSync.native(root));
  if (!found)
    throw refused(
      `${root} is not in a git repository, so there can be no worktree of it: run \`git init\`, commit what is there, then ask again`,
    );
  const top = realpathSync.native(found.top);
  const gitDir = realpathSync.native(found.gitDir);
  if (gitDir === join(top, ".git")) return { top, gitDir, common: gitDir };
  const pointsBack = textOf(join(gitDir, "gitdir"));
  // The pointer is the tree's word: only a repository that points back is believed.
  if (!pointsBack || dirname(resolve(gitDir, pointsBack)) !== top)
    throw refused(
      `${join(top, ".git")} names a repository that does not name this folder (a submodule?): start holdfast in the repository's main folder`,
    );
  return { top, gitDir, common: realpathSync.native(resolve(gitDir, textOf(join(gitDir, "commondir")) ?? ".")) };
}

export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** `descriptor` stays open in everything that git starts. */
export async function openGit({ top, gitDir, common }: Repository, descriptor?: number): Promise<Git> {
  const callOf = (config: OwnRepository["config"], args: string[], opts: GitRun = {}): GitCall => {
    const own: OwnRepository = {
      config: [...LOOKING, ...config],
      ...(opts.tree === undefined ? {} : { tree: opts.tree }),
      ...(descriptor === undefined ? {} : { descriptor }),
    };
    const input = opts.input === undefined ? {} : { input: opts.input };
    return { args, gitDir: opts.gitDir ?? common, avoid: top, own, ...input, ...(opts.apart && { apart: true }) };
  };
  const run = async (call: GitCall) => (await runGit(call)).toString("utf8");
  const config = await filtersOff((args) => run(callOf([], args, { gitDir })));
  return Object.assign((args: string[], opts?: GitRun) => run(callOf(config, args, opts)), {
    async ask(args: string[], opts?: GitRun) {
      const { out, ...rest } = await tryGit(callOf(config, args, opts));
      return { ...rest, out: out.toString("utf8") };
    },
  });
}

/**
 * A filter is a program. Those that the user configured for all repositories run, as they do for every checkout of theirs (git-lfs);
 * what the repository's own configuration says of filters does not count.
 */
async function filtersOff(run: (args: string[]) => Promise<string>): Promise<OwnRepository["config"]> {
  const users = new Map<string, string>();
  const ofRepository = new Set<string>();
  for (const { scope, key, value } of await configOf(run)) {
    if (!key.startsWith("filter.")) continue;
    if (scope === "user") users.set(key, value);
    else ofRepository.add(key);
  }
  // Nothing unsets a value: an empty one keeps git from running anything of that filter.
  return [...ofRepository].map((key) => [key, users.get(key) ?? (key.endsWith(".required") ? "false" : "")]);
}

interface Configured {
  scope: "user" | "repository";
  key: string;
  value: string;
}

/** What is configured for all repositories of the user, and what this one says. */
async function configOf(run: (args: string[]) => Promise<string>): Promise<Configured[]> {
  const listed = (await run(["config", "--list", "--show-scope", "-z"])).split("\0");
  const found: Configured[] = [];
  for (let i = 0; i + 1 < listed.length; i += 2) {
    const said = listed[i]!;
    const [key = "", ...value] = listed[i + 1]!.split("\n");
    const scope = said === "system" || said === "global" ? "user" : "repository";
    if (said !== "command") found.push({ scope, key, value: value.join("\n") });
  }
  return found;
}

/** Programs that git would start to join two versions of a file, named by the repository's own configuration. */
export async function mergeProgramsOf(git: Git, gitDir: string): Promise<string[]> {
  const all = await configOf((args) => git(args, { gitDir }));
  return all
    .filter(({ scope, key }) => scope === "repository" && /^merge\..+\.driver$/.test(key))
    .map(({ key }) => key);
}

/** The commit that a tree stands at. Contract: throws `refused` when there is none yet. */
export async function headOf(git: Git, repository: Repository): Promise<string> {
  try {
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"];
    return (await git(args, { gitDir: repository.gitDir })).trim();
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "not_found") throw error;
    throw refused(
      "the repository has no commit yet, so there is nothing that a worktree could begin with: commit first, then ask again",
    );
  }
}
