// MCP: servers that are configured, connected by `connect_mcp` or by the first call; their tools among ours, their resources and prompts by name.
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import { mcpEvents, mcpSlice } from "./events.ts";
import type { McpHouse, McpServer } from "./port.ts";
import type { McpRoom } from "./room.ts";

export interface McpOptions {
  /** From the highest precedence to the lowest; of two with one name the first is used. */
  servers: readonly McpServer[];
}

export function createMcp({ servers = [], ...house }: McpHouse & Partial<McpOptions>): Mechanism {
  const all = servers.filter(({ name }, i) => servers.findIndex((one) => one.name === name) === i);
  let room: McpRoom | undefined;
  /** Nothing is loaded where there is no server. Every turn waits for it, before its first round and before calls that it takes up. */
  const loading =
    all.length === 0 ? undefined : import("./room.ts").then(({ createMcpRoom }) => createMcpRoom(all, house));
  const opened = async () => {
    room ??= await loading;
    return room;
  };
  opened().catch(() => undefined); // whoever waits for it is told

  return defineMechanism({
    name: "mcp",
    events: mcpEvents,
    fold: mcpSlice,
    tools: (turn) => room?.tools(turn) ?? [],
    async start() {
      await opened();
      return [];
    },
    close: async () => (await opened())?.close(),
    seams: {
      input: async (input, turn) => (await opened())?.input(input, turn) ?? input,
      async intake(turn) {
        await (await opened())?.refresh(turn);
        return [];
      },
      system: () => (all.length === 0 ? "" : `MCP servers: ${all.map(({ name }) => name).join(", ")} (connect_mcp)`),
      gate: { judge: async (call) => (await opened())?.judge(call) ?? { decision: "allow" } },
    },
  });
}
