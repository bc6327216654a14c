// What a worktree holds that the project's tree does not: its branch since it left the other, with what is uncommitted.
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { openDir, type WorktreePlace } from "./make.ts";
import { branchOf, checkWorktreeName } from "./port.ts";
import { checkInPlace, findRegistered } from "./registered.ts";
import { type Git, NOT_INTO_SUBMODULES, openGit, repositoryOf, type WorktreeRepository } from "./repository.ts";

export interface ComparedTree {
  name: string;
  branch: string;
  path: string | null;
  /** The last commit that both have. */
  base: string;
  commits: { id: string; subject: string }[];
  files: { path: string; added: number | null; removed: number | null; untracked?: true }[];
  /** Unified; untracked files are not in it. Only where it was asked for. */
  patch?: string;
  /** Untracked files, where the patch was asked for: bytes of a regular file or a link that is not too long. */
  untracked?: { path: string; content?: Uint8Array; bytes: number }[];
}

/** Nothing of the repository's own configuration may run to show a file. */
const DIFF = [
  "diff",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  NOT_INTO_SUBMODULES,
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];
const MOST_COMMITS = 50;

export async function compareTree(
  place: WorktreePlace,
  name: string,
  { patch = false, maxBytes = 0 }: { patch?: boolean; maxBytes?: number } = {},
): Promise<ComparedTree> {
  checkWorktreeName(name);
  const main = repositoryOf(place.root);
  const git = await openGit(main, place.dir);
  const branch = branchOf(name);
  const path = join(openDir(place.dir), name);
  const registered = findRegistered(main.common, path);
  if (registered) checkInPlace(path, registered.admin);
  const base = await baseOf(git, main, name);
  // Of a tree that is there: what lies in it. Of a branch alone: its last commit.
  const at = registered ? { gitDir: registered.admin, tree: path } : { gitDir: main.gitDir };
  const range = registered ? [base] : [base, `refs/heads/${branch}`];
  const log = [
    "log",
    "--no-show-signature",
    "--no-notes",
    "--format=%H%x00%s",
    `--max-count=${MOST_COMMITS}`,
    `${base}..refs/heads/${branch}`,
    "--",
  ];
  const commits = (await git(log, { gitDir: main.gitDir })).split("\n").filter(Boolean).map(commitIn);
  const files = numbersIn(await git([...DIFF, "--numstat", "-z", "--no-renames", ...range, "--"], at));
  const others = registered
    ? (await git(["ls-files", "-z", "--others", "--exclude-standard"], at)).split("\0").filter(Boolean)
    : [];
  const loose = others.map((one) => ({ path: one, added: null, removed: null, untracked: true as const }));
  return {
    ...{ name, branch, path: registered ? path : null, base, commits, files: [...files, ...loose] },
    ...(patch && {
      patch: await git([...DIFF, ...range, "--"], at),
      untracked: others.map((one) => ({ path: one, ...contentOf(join(path, one), maxBytes) })),
    }),
  };
}

/** Contract: throws `refused` when there is no such branch, or nothing in common. */
export async function baseOf(git: Git, main: WorktreeRepository, name: string): Promise<string> {
  const ref = `refs/heads/${branchOf(name)}`;
  if ((await git(["for-each-ref", ref])) === "")
    throw refused(`there is no worktree ${name}, and no branch ${branchOf(name)}: see \`holdfast worktrees ls\``);
  const base = await git.ask(["merge-base", "HEAD", ref], { gitDir: main.gitDir });
  if (base.code !== 0) throw refused(`${branchOf(name)} has no commit in common with the project's tree`);
  return base.out.trim().replace(/\n[\s\S]*/, "");
}

function commitIn(line: string): { id: string; subject: string } {
  const [id = "", subject = ""] = line.split("\0");
  return { id, subject };
}

/** `3\t1\tpath`, with `-` for what is binary. */
const numbersIn = (text: string): ComparedTree["files"] =>
  text
    .split("\0")
    .filter(Boolean)
    .map((entry) => {
      const [added = "-", removed = "-", ...path] = entry.split("\t");
      const count = (n: string) => (n === "-" ? null : Number(n));
      return { path: path.join("\t"), added: count(added), removed: count(removed) };
    });

function contentOf(file: string, maxBytes: number): { content?: Uint8Array; bytes: number } {
  try {
    const stat = lstatSync(file);
    if (stat.isSymbolicLink()) return { bytes: stat.size, content: Buffer.from(`link to ${readlinkSync(file)}`) };
    if (!stat.isFile() || stat.size > maxBytes) return { bytes: stat.size };
    return { bytes: stat.size, content: readFileSync(file) };
  } catch {
    return { bytes: 0 };
  }
}
