// Which branch a tree is on, read from git's own files.
import fs from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Without starting git, which a repository's own configuration could make run something. Undefined: no repository, or no branch. */
export function currentBranch(root: string): string | undefined {
  for (let at = root; ; at = dirname(at)) {
    const git = join(at, ".git");
    const stat = fs.lstatSync(git, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return branchIn(git);
    const dir = stat?.isFile() ? /^gitdir: (.+)$/m.exec(small(git) ?? "")?.[1] : undefined;
    if (dir !== undefined) return branchIn(resolve(at, dir));
    if (at === dirname(at)) return undefined;
  }
}

const branchIn = (gitDir: string): string | undefined =>
  /^ref: refs\/heads\/([^\s\p{Cc}"<>]{1,200})$/mu.exec(small(join(gitDir, "HEAD")) ?? "")?.[1];

function small(file: string): string | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() && stat.size < 4096 ? fs.readFileSync(file, "utf8") : undefined;
}
