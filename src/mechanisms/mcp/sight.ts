// Which servers an agent sees: all that are configured, or those that its type of agent names, with those that the type brings itself.
import type { Turn } from "../../loop/seams.ts";
import { nearestName } from "../../text/similarity.ts";
import type { McpState } from "./events.ts";
import { cleanServerName } from "./names.ts";
import type { McpHouse, McpServer } from "./port.ts";
import type { Servers } from "./servers.ts";

type OfAgent = Pick<Turn, "agent" | "slice">;

export interface Sight {
  /** In their order. Contract: with those that its type brings once `look` was called for it. */
  of(turn: OfAgent): readonly McpServer[];
  /** Its type of agent names them: they are connected without being asked for. */
  isNamed(turn: OfAgent): boolean;
  /** What was recorded, of those servers alone. Contract: the same object for the same facts. */
  state(turn: OfAgent): McpState;
  /** Reads what its type of agent brings. Returns what is wrong, one line each. */
  look(turn: OfAgent): Promise<string[]>;
}

export function createSight(servers: Servers, house: Pick<McpHouse, "serversFor" | "serversOfType">): Sight {
  const configured = [...servers.all()];
  /** By type of agent. */
  const brought = new Map<string, readonly McpServer[]>();
  const parts = new WeakMap<McpState["servers"], Map<string, McpState["servers"]>>();

  function of(turn: OfAgent): readonly McpServer[] {
    const named = house.serversFor?.(turn);
    if (!named) return configured;
    const known = [...configured, ...(brought.get(named.type) ?? [])];
    const wanted = [...new Set(named.names.map(cleanServerName))];
    return wanted.flatMap((name) => known.find((one) => one.name === name) ?? []);
  }

  return {
    of,
    isNamed: (turn) => house.serversFor?.(turn) !== undefined,
    state(turn) {
      const state = turn.slice<McpState>("mcp");
      const names = of(turn).map(({ name }) => name);
      if (Object.keys(state.servers).every((name) => names.includes(name))) return state;
      const kept = parts.get(state.servers) ?? new Map<string, McpState["servers"]>();
      parts.set(state.servers, kept);
      const key = names.join();
      const part =
        kept.get(key) ?? Object.fromEntries(Object.entries(state.servers).filter(([name]) => names.includes(name)));
      kept.set(key, part);
      return { ...state, servers: part };
    },
    async look(turn) {
      const named = house.serversFor?.(turn);
      if (!named) return [];
      const { servers: own, warnings } = (await house.serversOfType?.(named.type)) ?? { servers: [], warnings: [] };
      const says = [...warnings];
      // A name stands for one server: rules and what was first seen of its tools hold for that one.
      const added = own.filter((server) => {
        const used = servers.add(server);
        if (used !== undefined) says.push(`${server.source}: the MCP server ${server.name} of ${used} is used instead`);
        return used === undefined;
      });
      brought.set(named.type, added);
      const names = of(turn).map(({ name }) => name);
      const missing = named.names.filter(
        (name) => !names.includes(cleanServerName(name)) && !isIn(own, name, warnings),
      );
      for (const name of missing) says.push(missingText(named.type, name, configured));
      return says;
    },
  };
}

/** What it brings and is not used was said by itself. */
const isIn = (own: readonly McpServer[], name: string, warnings: readonly string[]): boolean =>
  own.some((one) => one.name === cleanServerName(name)) || warnings.length > 0;

function missingText(type: string, name: string, configured: readonly McpServer[]): string {
  const names = configured.map((one) => one.name);
  const near = nearestName(name, names);
  const known = names.length === 0 ? "none is configured" : `there are ${names.join(", ")}`;
  return `agent ${type}: there is no MCP server ${name}: ${near ? `did you mean ${near}?` : known}`;
}
