// Which tools of servers an agent is offered: all of a few, of many only those that it has found.
import { own } from "../../ledger/own.ts";
import type { Tool } from "../../loop/seams.ts";
import type { McpState } from "./events.ts";
import { toolName } from "./names.ts";
import type { ToolDefinition } from "./offer.ts";
import type { McpServer } from "./port.ts";
import { type Agreed, createServerTool } from "./server-tool.ts";
import type { Connected, Servers } from "./servers.ts";

/** Past so many, their schemas would crowd every request. */
const MOST_OFFERED = 40;

interface Entry {
  name: string;
  server: McpServer;
  definition: ToolDefinition;
}

interface Collision {
  server: string;
  tool: string;
  taken: { server: string; tool: string };
}

interface Known {
  entries: Entry[];
  collisions: Collision[];
  /** They are too many to be offered all. */
  isDeferred: boolean;
}

export interface Offering {
  /** Of everything that was ever connected in the context and is configured here. */
  known(state: McpState): Known;
  /** The same once that server is recorded as it is now. */
  with(state: McpState, connected: Connected): Known;
  tools(state: McpState, agent: string): Tool[];
  find(state: McpState, name: string): Entry | undefined;
}

export function createOffering(servers: Servers, agreed: Agreed): Offering {
  const parsed = new Map<string, ToolDefinition[]>();
  const made = new Map<string, Tool>();
  const seen = new WeakMap<McpState["servers"], { hashes: string; known: Known }>();

  const definitions = ({ hash, tools }: { hash: string; tools: string }): ToolDefinition[] => {
    const all = parsed.get(hash) ?? (JSON.parse(tools) as ToolDefinition[]);
    parsed.set(hash, all);
    return all;
  };

  function listed(all: Iterable<readonly [string, readonly ToolDefinition[]]>): Known {
    const byName = new Map<string, Entry>();
    const collisions: Collision[] = [];
    for (const [name, tools] of all) {
      const server = servers.all().find((one) => one.name === name);
      if (!server) continue; // no longer configured: nobody could call it
      for (const definition of tools) {
        const offered = toolName(name, definition.tool);
        const taken = byName.get(offered);
        if (taken)
          collisions.push({
            server: name,
            tool: definition.tool,
            taken: { server: taken.server.name, tool: taken.definition.tool },
          });
        else byName.set(offered, { name: offered, server, definition });
      }
    }
    return { entries: [...byName.values()], collisions, isDeferred: byName.size > MOST_OFFERED };
  }

  function known({ servers: all }: McpState): Known {
    const hashes = Object.values(all)
      .map(({ hash }) => hash)
      .join();
    const before = seen.get(all);
    if (before?.hashes === hashes) return before.known;
    const now = listed(Object.entries(all).map(([name, of]) => [name, definitions(of)] as const));
    seen.set(all, { hashes, known: now });
    return now;
  }

  function toolOf({ name, server, definition }: Entry): Tool {
    const key = `${name} ${definition.hash}`;
    const tool = made.get(key) ?? createServerTool(name, server, definition, { servers, agreed });
    made.set(key, tool);
    return tool;
  }

  return {
    known,
    with(state, { connection, tools }) {
      const { name } = connection.server;
      const others = Object.entries(state.servers).filter(([server]) => server !== name);
      return listed([...others.map(([server, of]) => [server, definitions(of)] as const), [name, tools]]);
    },
    tools(state, agent) {
      const { entries, isDeferred } = known(state);
      if (!isDeferred) return entries.map(toolOf);
      const found = own(state.found, agent) ?? {};
      return entries.filter(({ name }) => Object.hasOwn(found, name)).map(toolOf);
    },
    find: (state, name) => known(state).entries.find((entry) => entry.name === name),
  };
}
