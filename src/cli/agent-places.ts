// Owns where definitions of agents stand, in their order: the project's only when it is trusted.
import { join } from "node:path";
import type { AgentPlace } from "../mechanisms/agents/index.ts";
import { settingsPlaces } from "../settings/index.ts";

const IN_PROJECT = [".holdfast/agents", ".claude/agents"];

export function agentPlaces(root: string, { trusted }: { trusted: boolean }): AgentPlace[] {
  const { home, configHome } = settingsPlaces();
  const inside = IN_PROJECT.map((shown) => ({ dir: join(root, shown), shown, repository: true }));
  const own = [
    join(configHome, "holdfast", "agents"),
    join(home, ".holdfast", "agents"),
    join(home, ".claude", "agents"),
  ];
  const ofUser = own.map((dir) => ({ dir, shown: dir, repository: false }));
  // In the home directory the project's folders are the person's own.
  const other = inside.filter(({ dir }) => !own.includes(dir));
  return [...(trusted ? other : []), ...ofUser];
}
