// MCP: servers that are configured, connected by `connect_mcp` or by the first call; their tools among ours, their resources and prompts by name.
import { defineMechanism, type GateCall, type Mechanism, type Turn, type Verdict } from "../../loop/seams.ts";
import { createConnectTool } from "./connect-mcp.ts";
import { type McpState, mcpEvents, mcpSlice } from "./events.ts";
import { createFindTool } from "./find-mcp-tools.ts";
import { createOffering } from "./offering.ts";
import type { McpHouse, McpServer } from "./port.ts";
import type { Agreed } from "./server-tool.ts";
import { createServers, isRecorded, recorded } from "./servers.ts";

export interface McpOptions {
  /** From the highest precedence to the lowest; of two with one name the first is used. */
  servers: readonly McpServer[];
}

const ALLOWED: Verdict = { decision: "allow" };

export function createMcp({ servers: given = [], ...house }: McpHouse & Partial<McpOptions>): Mechanism {
  const all = given.filter(({ name }, i) => given.findIndex((one) => one.name === name) === i);
  const agreed: Agreed = new Map();
  const servers = createServers(all, house, async (server) => {
    if (server.transport.kind === "stdio") return undefined;
    const { tokensOf } = await import("./login.ts");
    return tokensOf(server, house.stateDir);
  });
  const offering = createOffering(servers, agreed);
  const connectTool = createConnectTool(servers, offering);
  const findTool = createFindTool(offering);
  const told = new Set<string>();
  const stateOf = (turn: Pick<Turn, "slice">) => turn.slice<McpState>("mcp");

  /** What a server says otherwise than before holds only when a person agrees; its old words are shown until then. */
  function judge({ tool, call, turn }: GateCall): Verdict {
    const entry = tool.name.startsWith("mcp__") ? offering.find(stateOf(turn), tool.name) : undefined;
    const now = entry && servers.changed(entry.server.name, entry.definition.tool);
    if (!entry || !now) return ALLOWED;
    agreed.set(call.id, now.hash);
    const says = now.description.replaceAll(/\s+/g, " ").slice(0, 300);
    const reason = `the MCP server ${entry.server.name} describes ${tool.name} in another way than when it was first used here; now: ${says}`;
    return { decision: "ask", code: "tool", firm: true, reason };
  }

  /** A list that changed is recorded before the round that is to show it. */
  async function refresh(turn: Turn): Promise<void> {
    for (const connected of await servers.now()) {
      const { name } = connected.connection.server;
      for (const [tool, { hash }] of connected.changed) {
        if (told.has(`${name} ${tool} ${hash}`)) continue;
        told.add(`${name} ${tool} ${hash}`);
        const text = `the MCP server ${name} describes ${tool} in another way than before: it is not shown to the model until you agree`;
        turn.emit({ type: "status", text });
      }
      const state = stateOf(turn);
      if (Object.hasOwn(state.servers, name) && !isRecorded(state, connected))
        await turn.append([recorded(connected)], { durability: "deferred" });
    }
  }

  return defineMechanism({
    name: "mcp",
    events: mcpEvents,
    fold: mcpSlice,
    tools(turn) {
      if (all.length === 0) return [];
      const state = stateOf(turn);
      return [
        connectTool,
        ...(offering.known(state).isDeferred ? [findTool] : []),
        ...offering.tools(state, turn.agent),
      ];
    },
    close: () => servers.close(),
    seams: {
      async input(input, turn) {
        if (all.length === 0) return input;
        const { brought } = await import("./bring.ts");
        return brought(input, turn, servers);
      },
      async intake(turn) {
        if (all.length > 0) await refresh(turn);
        return [];
      },
      system: () => (all.length === 0 ? "" : `MCP servers: ${all.map(({ name }) => name).join(", ")} (connect_mcp)`),
      gate: { judge },
    },
  });
}
