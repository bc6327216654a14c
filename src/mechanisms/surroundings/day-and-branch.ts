// What changes around an agent while its system prompt stays: the day, and the branch of its tree.
import { currentBranch } from "../../file-access/git-branch.ts";

export interface Surroundings {
  /** As people write it, in the time zone of the machine. */
  day: string;
  branch?: string;
}

export function surroundingsOf(root: string, now = new Date()): Surroundings {
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const branch = currentBranch(root);
  return { day, ...(branch !== undefined && { branch }) };
}

const two = (n: number): string => String(n).padStart(2, "0");

export const saidOf = ({ day, branch }: Surroundings): string =>
  `Today is ${day}.${branch === undefined ? "" : ` The git branch is ${branch}.`}`;
