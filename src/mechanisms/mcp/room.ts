// What the mechanism does where a server is configured. Loaded only there.
import type { GateCall, Input, Tool, Turn, Verdict } from "../../loop/seams.ts";
import { createConnectTool } from "./connect-mcp.ts";
import { createFindTool } from "./find-mcp-tools.ts";
import { shownName, type ToolDefinition } from "./offer.ts";
import { createOffering } from "./offering.ts";
import { addressOf, type McpHouse, type McpServer } from "./port.ts";
import { type Agreed, serverCallKey } from "./server-tool.ts";
import { createServers, isRecorded, recorded } from "./servers.ts";
import { createSight } from "./sight.ts";
import { connectForStart } from "./start.ts";

const ALLOWED: Verdict = { decision: "allow" };

export interface McpRoom {
  /** When a process takes the agent: the servers that its type names are connected. Contract: waits for them no longer than `startWaitMs`. */
  begin(turn: Turn): Promise<void>;
  tools(turn: Turn): Tool[];
  /** The line of the system prompt. */
  names(turn: Turn): string;
  input(input: Input, turn: Turn): Promise<Input | { block: string }>;
  /** A list that changed is recorded before the round that is to show it. */
  refresh(turn: Turn): Promise<void>;
  judge(call: GateCall): Verdict;
  close(): Promise<void>;
}

export function createMcpRoom(
  all: readonly McpServer[],
  house: McpHouse,
  { startWaitMs }: { startWaitMs: number },
): McpRoom {
  const agreed: Agreed = new Map();
  const servers = createServers(all, house, async (server) => {
    if (addressOf(server) === undefined) return undefined;
    const { keptLogin } = await import("./login.ts");
    return keptLogin(server, house.stateDir);
  });
  const sight = createSight(servers, house);
  const offering = createOffering(servers, agreed);
  const connectTool = createConnectTool(servers, offering, sight);
  const findTool = createFindTool(offering, sight);
  const told = new Set<string>();

  /** Each is said once. */
  function tell(text: string, turn: Turn, key = text): void {
    if (told.has(key)) return;
    told.add(key);
    turn.emit({ type: "status", text });
  }

  return {
    async begin(turn) {
      for (const says of await sight.look(turn)) tell(says, turn);
      if (!sight.isNamed(turn)) return;
      const { servers: before } = sight.state(turn);
      const fresh = sight.of(turn).filter(({ name }) => !Object.hasOwn(before, name));
      await connectForStart(fresh, { servers, turn, waitMs: startWaitMs });
      await this.refresh(turn);
    },
    tools(turn) {
      if (sight.of(turn).length === 0) return [];
      const state = sight.state(turn);
      const { isDeferred } = offering.known(state);
      return [connectTool, ...(isDeferred ? [findTool] : []), ...offering.tools(state, turn.agent)];
    },
    names(turn) {
      const names = sight.of(turn).map(({ name }) => name);
      return names.length === 0 ? "" : `MCP servers: ${names.join(", ")} (connect_mcp)`;
    },
    async input(input, turn) {
      const { brought } = await import("./bring.ts");
      const find = (name: string) => sight.of(turn).find((one) => one.name === name);
      return brought(input, turn, { servers: { open: servers.open, find }, hide: house.hide ?? ((text) => text) });
    },
    async refresh(turn) {
      const seen = new Set(sight.of(turn).map(({ name }) => name));
      for (const connected of await servers.now()) {
        const { name } = connected.connection.server;
        if (!seen.has(name)) continue;
        for (const [tool, { hash }] of connected.changed) {
          const text = `the MCP server ${name} describes ${shownName(tool)} in another way than before: it is not shown to the model until you agree`;
          tell(text, turn, `${name} ${tool} ${hash}`);
        }
        const state = sight.state(turn);
        const isOffered = Object.hasOwn(state.servers, name) || sight.isNamed(turn);
        if (isOffered && !isRecorded(state, connected))
          await turn.append([recorded(connected)], { durability: "deferred" });
      }
    },
    /** What a server says otherwise than before holds only when a person agrees; its old words are shown until then. */
    judge({ tool, call, turn }) {
      const entry = tool.name.startsWith("mcp__") ? offering.find(sight.state(turn), tool.name) : undefined;
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
