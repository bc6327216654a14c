// The MCP servers that a type of agent brings itself: those of a repository only as they were approved.
import type { ReadServers } from "./port.ts";
import { readServers } from "./server-config.ts";

/** What of a definition this needs. */
interface Bringing {
  source: string;
  mcpServers?: readonly (string | Record<string, unknown>)[];
  repository?: boolean;
  approved?: boolean;
}

/** Whether somebody has approved the servers that a file of the repository brings, by the text that stands for them. */
export type ApprovesServers = (source: string, text: string) => boolean;

const ownServers = ({ mcpServers = [] }: Bringing): Record<string, unknown> =>
  Object.assign({}, ...mcpServers.filter((one) => typeof one !== "string"));

/** Stands for the servers of one definition where they are shown or trusted; undefined: it brings none. */
export function agentServersText(definition: Bringing): string | undefined {
  const own = ownServers(definition);
  return Object.keys(own).length === 0 ? undefined : JSON.stringify({ mcpServers: own }, null, 2);
}

export function agentServers(
  definition: Bringing,
  { env, isApproved = () => false }: { env: NodeJS.ProcessEnv; isApproved?: ApprovesServers | undefined },
): ReadServers {
  const text = agentServersText(definition);
  if (text === undefined) return { servers: [], warnings: [] };
  const { source, repository = false, approved = false } = definition;
  if (repository && !approved && !isApproved(source, text)) {
    const why = "new or changed since trust was given; look at it, then run `holdfast trust add`, or this with --trust";
    return { servers: [], warnings: [`${source}: MCP servers not used: ${why}`] };
  }
  return readServers(ownServers(definition), { shown: source, repository, env });
}
