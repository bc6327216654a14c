// What servers offer in a context, recorded when it changes: every later request has it, also where the server is not connected.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const mcpEvents = {
  /** `tools`: the definitions as JSON; long ones live in a blob. */
  "mcp.offered": { v: 1, schema: () => z.object({ server: z.string(), hash: z.string(), tools: z.string() }) },
  /** Of many tools, those that an agent has found: it is offered them from then on. */
  "mcp.found": { v: 1, schema: () => z.object({ names: z.array(z.string()) }) },
} satisfies EventDefs;

interface OfferedBy {
  hash: string;
  tools: string;
  /** When it was connected first. */
  since: number;
}

export interface McpState {
  /** By server. */
  servers: Record<string, OfferedBy>;
  /** By agent: names, and since when. */
  found: Record<string, Record<string, number>>;
}

export const mcpSlice: MechanismSlice<McpState> = {
  version: 1,
  types: Object.keys(mcpEvents),
  timelines: {
    restored: ({ servers, found }, { to }) => ({
      servers: Object.fromEntries(Object.entries(servers).filter(([, { since }]) => since <= to)),
      found: Object.fromEntries(
        Object.entries(found).map(([agent, names]) => [
          agent,
          Object.fromEntries(Object.entries(names).filter(([, seq]) => seq <= to)),
        ]),
      ),
    }),
    // What a file of somebody else's says of servers is not what they said.
    copied: (state, how) => (how === "import" ? mcpSlice.initial() : state),
  },
  initial: () => ({ servers: {}, found: {} }),
  apply(state, event) {
    if (event.type === "mcp.offered") {
      const { server, hash, tools } = event.data as { server: string; hash: string; tools: string };
      const since = own(state.servers, server)?.since ?? event.seq;
      return { ...state, servers: { ...state.servers, [server]: { hash, tools, since } } };
    }
    const { names } = event.data as { names: string[] };
    const found = ownOr(state.found, event.actor, () => ({}));
    for (const name of names) if (!Object.hasOwn(found, name)) found[name] = event.seq;
    return state;
  },
};
