// Saying which files of a repository an agent knows nothing of: until they are read, nobody is to believe that they are.
import { existsSync } from "node:fs";
import { join } from "node:path";

const IN_PROJECT = [".mcp.json"];

/** As a person would name them. Contract: looks whether they are there, and opens none. */
export const unusedFiles = (root: string): string[] => IN_PROJECT.filter((name) => existsSync(join(root, name)));

export const INSTEAD = "name a file with @ in the prompt, or give --append-system-prompt";
