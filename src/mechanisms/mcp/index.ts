// MCP: servers that are configured, connected by `connect_mcp`, by the first call, or when an agent begins whose type names them; their tools among ours, their resources and prompts by name.
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import type { ApprovesServers } from "./agent-servers.ts";
import { mcpEvents, mcpSlice } from "./events.ts";
import type { McpHouse, McpServer } from "./port.ts";
import type { McpRoom } from "./room.ts";

export interface McpOptions {
  /** From the highest precedence to the lowest; of two with one name the first is used. */
  servers: readonly McpServer[];
  /** Whether servers that an agent of the repository brings may start; default: none. */
  isApproved?: ApprovesServers;
  /** Agents bring no servers of their own. */
  strict?: boolean;
  /** So long the first request of an agent waits for the servers that its type names; default: 5 s. */
  startWaitMs?: number;
}

const START_WAIT_MS = 5_000;

export function createMcp({
  servers = [],
  startWaitMs = START_WAIT_MS,
  ...house
}: McpHouse & Partial<McpOptions>): Mechanism {
  const all = servers.filter(({ name }, i) => servers.findIndex((one) => one.name === name) === i);
  let room: McpRoom | undefined;
  let loading: Promise<McpRoom> | undefined;
  const load = async (): Promise<McpRoom> => {
    loading ??= import("./room.ts").then(({ createMcpRoom }) => createMcpRoom(all, house, { startWaitMs }));
    room ??= await loading;
    return room;
  };
  /** Nothing is loaded where there is no server. Every turn waits for it, before its first round and before calls that it takes up. */
  const roomFor = async (turn: Turn): Promise<McpRoom | undefined> =>
    all.length > 0 || house.serversFor?.(turn) ? load() : undefined;
  if (all.length > 0) load().catch(() => undefined); // whoever waits for it is told

  return defineMechanism({
    name: "mcp",
    carry: async (turn, how) => (await import("./carry.ts")).carryServers(turn, how),
    outside: {
      at: ["start", "input", "intake", "system", "gate"],
      facts: ["mcp.offered"],
      tools: ["connect_mcp", "find_mcp_tools", "mcp__*"],
    },
    events: mcpEvents,
    fold: mcpSlice,
    tools: (turn) => room?.tools(turn) ?? [],
    async start(turn) {
      await (await roomFor(turn))?.begin(turn);
      return [];
    },
    close: async () => (await loading)?.close(),
    seams: {
      input: async (input, turn) => (await roomFor(turn))?.input(input, turn) ?? input,
      async intake(turn) {
        await (await roomFor(turn))?.refresh(turn);
        return [];
      },
      system: async (turn) => (await roomFor(turn))?.names(turn) ?? "",
      gate: { judge: async (call) => (await roomFor(call.turn))?.judge(call) ?? { decision: "allow" } },
    },
  });
}
