// What of a repository is not used before it is trusted, as a person would name it.
import { existsSync } from "node:fs";
import { projectPlaces } from "../mechanisms/instructions/files.ts";
import { withheldAgents } from "./agent-places.ts";

export const withheldFiles = (root: string): string[] => [
  ...withheldAgents(root),
  ...projectPlaces(root, root).flatMap(({ file, shown }) => (existsSync(file) ? [shown] : [])),
];
