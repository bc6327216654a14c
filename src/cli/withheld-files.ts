// What of a repository is not used before it is trusted, as a person would name it.
import { existsSync } from "node:fs";
import { projectPlaces } from "../mechanisms/instructions/files.ts";
import { withheldAgents } from "./agent-places.ts";
import { ofRepository } from "./skill-places.ts";

export const withheldFiles = (root: string): string[] => [
  ...withheldAgents(root),
  ...ofRepository(root).flatMap(({ dir, shown }) => (existsSync(dir) ? [shown] : [])),
  ...projectPlaces(root, root).flatMap(({ file, shown }) => (existsSync(file) ? [shown] : [])),
];
