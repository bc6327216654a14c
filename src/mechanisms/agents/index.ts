// Who an agent is: its instructions, the tools it is offered, its model, its rounds; never more than its caller has.

import type { PermissionMode } from "../../claude-code/permission-modes.ts";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { claudeModel } from "../../models/catalogue.ts";
import type { Model } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import { type AgentsState, agentEvents, agentLine, agentsSlice } from "./events.ts";
import { leaves } from "./tool-list.ts";

export interface AgentsOptions {
  /** Opens the model that a definition names. */
  openModel?: (spec: string) => Promise<Model>;
  /** Tools by which agents hand in their part: no list of tools takes them away. */
  always?: readonly string[];
}

type OfAgent = Pick<Turn, "agent" | "slice">;

const lineFor = ({ agent, slice }: OfAgent) => agentLine(slice<AgentsState>("agents") ?? {}, agent);

/** The modes of the agent and of those it works for: each of them holds, whatever the process's is. */
export const modesOf = (turn: OfAgent): PermissionMode[] =>
  lineFor(turn).flatMap(({ permissionMode }) => permissionMode ?? []);

/** The MCP servers that the agent is to see, and whose definition says so: its own, or that of the nearest it works for. */
export const serversFor = (turn: OfAgent): { type: string; names: readonly string[] } | undefined => {
  const { type, mcpServers: names } = lineFor(turn).find(({ mcpServers }) => mcpServers !== undefined) ?? {};
  return type !== undefined && names !== undefined ? { type, names } : undefined;
};

/** The skills that its own definition gives it. */
export const skillsFor = ({ agent, slice }: OfAgent): { type: string; names: readonly string[] } | undefined => {
  const { type, skills: names } = slice<AgentsState>("agents")?.[agent] ?? {};
  return type !== undefined && names !== undefined ? { type, names } : undefined;
};

/** What hooks know an agent as. */
export const agentTypeOf = ({ agent, slice }: OfAgent): string | undefined =>
  slice<AgentsState>("agents")?.[agent]?.type;

export function createAgents({ openModel, always = [] }: AgentsOptions = {}): Mechanism {
  const models = new Map<string, Promise<Model>>();

  function open(spec: string): Promise<Model> {
    const known = models.get(spec);
    if (known) return known;
    if (!openModel) throw new HoldfastError("invalid", `the model ${spec} cannot be opened here: give openModel`);
    const opening = openModel(spec);
    models.set(spec, opening);
    opening.catch(() => models.delete(spec)); // a key may be set later
    return opening;
  }

  /** Undefined: its caller's. A name that only Anthropic has means nothing to another provider. */
  function specFor(model: string | undefined, turn: Turn): string | undefined {
    if (model === undefined || model.includes("/") || model.startsWith("rehearsal")) return model;
    return turn.model.id.startsWith("anthropic/") ? claudeModel(model) : undefined;
  }

  return defineMechanism({
    name: "agents",
    carry: nothing,
    events: agentEvents,
    fold: agentsSlice,
    offers: (tool, turn) => lineFor(turn).every((defined) => leaves(defined, tool.name, always)),
    seams: {
      system: (turn) => turn.slice<AgentsState>("agents")[turn.agent]?.instructions ?? "",
      async model(call, next) {
        const { turn } = call;
        const own = turn.slice<AgentsState>("agents")[turn.agent];
        if (!own) return next(call);
        const rounds = turn.state.turn?.rounds ?? 0;
        if (!call.isNoRound && own.maxRounds !== undefined && rounds >= own.maxRounds)
          throw new HoldfastError("limit", `stopped after ${counted(rounds, "round")}, the maxTurns of ${own.type}`, {
            detail: { limit: "rounds" },
          });
        const spec = specFor(own.model, turn);
        if (spec === undefined || spec === turn.model.id) return next(call);
        let model: Model;
        try {
          model = await open(spec);
        } catch (error) {
          throw new HoldfastError("invalid", `the model of ${own.type} cannot be used: ${messageOf(error)}`);
        }
        const maxOutputTokens = Math.min(call.request.maxOutputTokens, model.limits.outputTokens);
        return next({ ...call, model, request: { ...call.request, maxOutputTokens } });
      },
    },
  });
}
