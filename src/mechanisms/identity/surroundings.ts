// What changes around an agent while its system prompt stays: the day, and the branch of its tree.
import fs from "node:fs";
import { dirname, join, resolve } from "node:path";

export interface Surroundings {
  /** As people write it, in the time zone of the machine. */
  day: string;
  branch?: string;
}

export function surroundingsOf(root: string, now = new Date()): Surroundings {
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const branch = branchOf(root);
  return { day, ...(branch !== undefined && { branch }) };
}

const two = (n: number): string => String(n).padStart(2, "0");

export const saidOf = ({ day, branch }: Surroundings): string =>
  `Today is ${day}.${branch === undefined ? "" : ` The git branch is ${branch}.`}`;

/** Without starting git, which a repository's own configuration could make run something. Undefined: no repository, or no branch. */
function branchOf(root: string): string | undefined {
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
