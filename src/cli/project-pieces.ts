// What of a project can run beside its settings and its `.mcp.json`: commands of skills, servers of agents, plugins that its settings name.
import type { TrustedPiece } from "../settings/repository.ts";
import { agentPieces } from "./agent-pieces.ts";
import { pluginPieces } from "./plugins.ts";
import { skillPieces } from "./skill-pieces.ts";

/** `plugins`: the folders that the project's own settings name. */
export const projectPieces = async (root: string, plugins: readonly string[]): Promise<TrustedPiece[]> => [
  ...(await skillPieces(root)),
  ...(await agentPieces(root)),
  ...pluginPieces(plugins),
];
