// Git in the user's own repository: which one a tree belongs to, and runs of git there that execute nothing of the repository's.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { type GitCall, type OwnRepository, runGit, tryGit } from "../../file-snapshots/git.ts";
import { findRepository } from "../../file-snapshots/repository.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Configured, settingsFor } from "./own-settings.ts";

export interface WorktreeRepository {
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
  /** What user and repository say, when it was opened: to be looked at, never for git to follow. */
  configured: readonly Configured[];
  ask(args: string[], opts?: GitRun): Promise<{ code: number; out: string; why: string }>;
}

/** A submodule is what is kept of it, its commit. Whoever made the repository that lies there chose its settings: git never looks into it. */
export const NOT_INTO_SUBMODULES = "--ignore-submodules=dirty";

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
export function repositoryOf(root: string): WorktreeRepository {
  const found = findRepository(realpathSync.native(root));
  if (!found)
    throw refused(
      `${root} is not in a git repository, so there can be no worktree of it: run \`git init\`, commit what is there, then ask again`,
    );
  const top = realpathSync.native(found.top);
  const gitDir = realpathSync.native(found.gitDir);
  if (gitDir === join(top, ".git")) return { top, gitDir, common: gitDir };
  const pointsBack = gitText(join(gitDir, "gitdir"));
  // The pointer is the tree's word: only a repository that points back is believed.
  if (!pointsBack || dirname(resolve(gitDir, pointsBack)) !== top)
    throw refused(
      `${join(top, ".git")} names a repository that does not name this folder (a submodule?): start holdfast in the repository's main folder`,
    );
  return { top, gitDir, common: realpathSync.native(resolve(gitDir, gitText(join(gitDir, "commondir")) ?? ".")) };
}

export function gitText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** `dir` holds the worktrees; `descriptor` stays open in everything that git starts. */
export async function openGit(
  { top, gitDir, common }: WorktreeRepository,
  dir: string,
  descriptor?: number,
): Promise<Git> {
  const callOf = (settings: string | undefined, args: string[], opts: GitRun = {}): GitCall => {
    const own: OwnRepository = {
      config: LOOKING,
      ...(settings === undefined ? {} : { settings }),
      ...(opts.tree === undefined ? {} : { tree: opts.tree }),
      ...(descriptor === undefined ? {} : { descriptor }),
    };
    const input = opts.input === undefined ? {} : { input: opts.input };
    return { args, gitDir: opts.gitDir ?? common, avoid: top, own, ...input, ...(opts.apart && { apart: true }) };
  };
  const run = async (call: GitCall) => (await runGit(call)).toString("utf8");
  // The one run that reads the repository's own configuration: it prints it, and starts nothing.
  const configured = listed(await run(callOf(undefined, ["config", "--list", "--show-scope", "-z"], { gitDir })));
  const settings = settingsFor(common, dir, configured);
  return Object.assign((args: string[], opts?: GitRun) => run(callOf(settings, args, opts)), {
    configured,
    async ask(args: string[], opts?: GitRun) {
      const { out, ...rest } = await tryGit(callOf(settings, args, opts));
      return { ...rest, out: out.toString("utf8") };
    },
  });
}

function listed(text: string): Configured[] {
  const parts = text.split("\0");
  const found: Configured[] = [];
  for (let i = 0; ; i += 2) {
    const { [i]: said, [i + 1]: setting } = parts;
    if (setting === undefined) return found;
    const [key = "", ...value] = setting.split("\n");
    const scope = said === "system" || said === "global" ? "user" : "repository";
    // A key alone means true.
    if (said !== "command") found.push({ scope, key, value: value.length === 0 ? "true" : value.join("\n") });
  }
}

/** The commit that a tree stands at. Contract: throws `refused` when there is none yet. */
export async function headOf(git: Git, repository: WorktreeRepository): Promise<string> {
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
