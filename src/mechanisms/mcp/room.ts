// What the mechanism does where a server is configured. Loaded only there.
import type { GateCall, Input, Tool, Turn, Verdict } from "../../loop/seams.ts";
import { createConnectTool } from "./connect-mcp.ts";
import type { McpState } from "./events.ts";
import { createFindTool } from "./find-mcp-tools.ts";
import { shownName, type ToolDefinition } from "./offer.ts";
import { createOffering } from "./offering.ts";
import type { McpHouse, McpServer } from "./port.ts";
import { type Agreed, serverCallKey } from "./server-tool.ts";
import { createServers, isRecorded, recorded } from "./servers.ts";

const ALLOWED: Verdict = { decision: "allow" };
const stateOf = (turn: Pick<Turn, "slice">) => turn.slice<McpState>("mcp");

export interface McpRoom {
  tools(turn: Turn): Tool[];
  input(input: Input, turn: Turn): Promise<Input>;
  /** A list that changed is recorded before the round that is to show it. */
  refresh(turn: Turn): Promise<void>;
  judge(call: GateCall): Verdict;
  close(): Promise<void>;
}

export function createMcpRoom(all: readonly McpServer[], house: McpHouse): McpRoom {
  const agreed: Agreed = new Map();
  const servers = createServers(all, house, async (server) => {
    if (server.transport.kind === "stdio") return undefined;
    const { keptLogin } = await import("./login.ts");
    return keptLogin(server, house.stateDir);
  });
  const offering = createOffering(servers, agreed);
  const connectTool = createConnectTool(servers, offering);
  const findTool = createFindTool(offering);
  const told = new Set<string>();

  /** Each change is said once. */
  function tell(server: string, tool: string, hash: string, turn: Turn): void {
    const change = `${server} ${tool} ${hash}`;
    if (told.has(change)) return;
    told.add(change);
    const text = `the MCP server ${server} describes ${shownName(tool)} in another way than before: it is not shown to the model until you agree`;
    turn.emit({ type: "status", text });
  }

  return {
    tools(turn) {
      const state = stateOf(turn);
      const { isDeferred } = offering.known(state);
      return [connectTool, ...(isDeferred ? [findTool] : []), ...offering.tools(state, turn.agent)];
    },
    async input(input, turn) {
      const { brought } = await import("./bring.ts");
      return brought(input, turn, { servers, hide: house.hide ?? ((text) => text) });
    },
    async refresh(turn) {
      for (const connected of await servers.now()) {
        const { name } = connected.connection.server;
        for (const [tool, { hash }] of connected.changed) tell(name, tool, hash, turn);
        const state = stateOf(turn);
        if (Object.hasOwn(state.servers, name) && !isRecorded(state, connected))
          await turn.append([recorded(connected)], { durability: "deferred" });
      }
    },
    /** What a server says otherwise than before holds only when a person agrees; its old words are shown until then. */
    judge({ tool, call, turn }) {
      const entry = tool.name.startsWith("mcp__") ? offering.find(stateOf(turn), tool.name) : undefined;
      const now = entry && servers.changed(entry.server.name, entry.definition.tool);
      if (!entry || !now) return ALLOWED;
      agreed.set(serverCallKey(turn, call), now.hash);
      const reason = `the MCP server ${entry.server.name} describes ${tool.name} in another way than when it was first used here; ${newWords(now, entry.definition)}`;
      return { decision: "ask", code: "tool", firm: true, reason, about: now.hash };
    },
    close: () => servers.close(),
  };
}

/** All that is new and that a model would be shown: whoever agrees has seen it. */
function newWords(now: ToolDefinition, before: ToolDefinition): string {
  const schema = JSON.stringify(now.schema);
  return [
    `now: ${now.description.replaceAll(/\s+/g, " ")}`,
    ...(schema === JSON.stringify(before.schema) ? [] : [`its arguments: ${schema}`]),
    ...(now.readOnly === before.readOnly
      ? []
      : [now.readOnly ? "it says that it changes nothing" : "it may change things"]),
  ].join("; ");
}
