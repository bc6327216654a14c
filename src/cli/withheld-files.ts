// What of a repository is not used before it is trusted, as a person would name it.
import { existsSync } from "node:fs";
import { projectPlaces, userPlaces } from "../mechanisms/instructions/files.ts";
import { settingsPlaces } from "../settings/files.ts";
import { withheldAgents } from "./agent-places.ts";
import { ofRepository } from "./skill-places.ts";

export const withheldFiles = (root: string): string[] => [
  ...withheldAgents(root),
  ...ofRepository(root).flatMap(({ dir, shown }) => (existsSync(dir) ? [shown] : [])),
  ...withheldInstructions(root),
];

/** In the home directory some of them are the person's own. */
export function withheldInstructions(root: string): string[] {
  const own = new Set(userPlaces(settingsPlaces()).map(({ file }) => file));
  return projectPlaces(root, root).flatMap(({ file, shown }) => (existsSync(file) && !own.has(file) ? [shown] : []));
}
