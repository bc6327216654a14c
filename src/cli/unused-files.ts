// Saying which files of a repository and of its user's an agent knows nothing of: until they are read, nobody is to believe that they are.
import { existsSync } from "node:fs";
import { join } from "node:path";

const IN_PROJECT = ".claude/commands .claude/skills .mcp.json".split(" ");
const IN_HOME = ".claude/commands .claude/skills".split(" ");

/** As a person would name them. Contract: looks whether they are there, and opens none. */
export function unusedFiles(root: string, home: string): string[] {
  const there = (folder: string, names: string[]) => names.filter((name) => existsSync(join(folder, name)));
  return [...there(root, IN_PROJECT), ...(root === home ? [] : there(home, IN_HOME).map((name) => `~/${name}`))];
}

export const INSTEAD = "name a file with @ in the prompt, or give --append-system-prompt";
