// What of a project's agents can start: the MCP servers that they bring, for whoever shows them, trusts them or starts them.
import { createAgentCatalogue } from "../mechanisms/agents/catalogue.ts";
import { agentServersText } from "../mechanisms/mcp/agent-servers.ts";
import { mcpPiece, type TrustedPiece } from "../settings/repository.ts";
import { projectAgentPlaces } from "./agent-places.ts";

/** Each is trusted as it is. */
export async function agentPieces(root: string): Promise<TrustedPiece[]> {
  const agents = await createAgentCatalogue({ places: projectAgentPlaces(root) }).definitions();
  return agents.flatMap((agent) => {
    const text = agent.repository ? agentServersText(agent) : undefined;
    return text === undefined ? [] : [mcpPiece(agent.source, text)];
  });
}
