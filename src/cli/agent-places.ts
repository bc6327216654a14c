// Where definitions of agents stand, in their order: the project's only when it is trusted.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentPlace } from "../mechanisms/agents/catalogue.ts";
import { settingsPlaces } from "../settings/files.ts";

const IN_PROJECT = [".holdfast/agents", ".claude/agents"];

export function agentPlaces(root: string, { trusted }: { trusted: boolean }): AgentPlace[] {
  const ofUser = ownPlaces().map((dir) => ({ dir, shown: dir, repository: false }));
  return [...(trusted ? projectAgentPlaces(root) : []), ...ofUser];
}

/** What of the project's would be used if it were trusted, as a person would name it. */
export const withheldAgents = (root: string): string[] =>
  projectAgentPlaces(root).flatMap(({ dir, shown }) => (existsSync(dir) ? [shown] : []));

function ownPlaces(): string[] {
  const { home, configHome } = settingsPlaces();
  return [join(configHome, "holdfast", "agents"), join(home, ".holdfast", "agents"), join(home, ".claude", "agents")];
}

/** In the home directory the project's folders are the person's own. */
export function projectAgentPlaces(root: string): AgentPlace[] {
  const own = ownPlaces();
  return IN_PROJECT.map((shown) => ({ dir: join(root, shown), shown, repository: true, root })).filter(
    ({ dir }) => !own.includes(dir),
  );
}
