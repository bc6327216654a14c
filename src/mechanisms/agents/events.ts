// The facts of agent types: the copy of a definition that an agent keeps, so that a resume uses the same one.

import { PERMISSION_MODES, type PermissionMode } from "../../claude-code/permission-modes.ts";
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import { LEAD } from "../../loop/agent.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export interface DefinedAgent {
  type: string;
  instructions: string;
  tools?: string[];
  disallowedTools?: string[];
  model?: string;
  permissionMode?: PermissionMode;
  maxRounds?: number;
  skills?: string[];
  /** Names alone: what a server runs is looked up, and trusted, where it is connected. */
  mcpServers?: string[];
}

export const agentEvents = {
  "agent.defined": {
    v: 1,
    schema: () =>
      z.object({
        agent: z.string(),
        type: z.string(),
        instructions: z.string(),
        tools: z.array(z.string()).optional(),
        disallowedTools: z.array(z.string()).optional(),
        model: z.string().optional(),
        permissionMode: z.enum(PERMISSION_MODES).optional(),
        maxRounds: z.number().optional(),
        skills: z.array(z.string()).optional(),
        mcpServers: z.array(z.string()).optional(),
      }),
  },
} satisfies EventDefs;

/** By agent. */
export type AgentsState = Record<string, DefinedAgent>;

export const agentsSlice: MechanismSlice<AgentsState> = {
  version: 2, // 1: kept how the agents of an import were defined
  types: ["agent.defined"],
  timelines: {
    restored: (state) => state,
    // A file may name any model, any instructions: those of this machine's own definitions count.
    copied: (state, how) => (how === "import" ? {} : state),
  },
  initial: () => ({}),
  apply(state, event) {
    const { type, data } = knownFact<typeof agentEvents>(event);
    if (type !== "agent.defined") return state;
    const { agent, ...defined } = data;
    state[agent] = defined;
    return state;
  },
};

/** The agent's own definition first, then those of the agents it works for: `lead.c7.c2` works for `lead.c7`, everyone for the lead. */
export function agentLine(state: AgentsState, agent: string): DefinedAgent[] {
  const line: DefinedAgent[] = [];
  for (let name = agent; name !== ""; name = callerOf(name)) {
    const defined = own(state, name);
    if (defined) line.push(defined);
  }
  return line;
}

const callerOf = (agent: string): string =>
  agent.includes(".") ? agent.slice(0, agent.lastIndexOf(".")) : agent === LEAD ? "" : LEAD;
