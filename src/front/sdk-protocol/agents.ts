// What the lines of stream-json must know of agents: where each one is, whose subagent it is, how long its last prompt was.

import { callIdOf } from "../../claude-code/call-shape.ts";
import type { AgentView } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { BudgetState } from "../../mechanisms/budget/events.ts";
import type { Subagent, SubagentsState } from "../../mechanisms/subagents/events.ts";
import type { Usage } from "../../models/model.ts";
import type { Told } from "./stream-json.ts";

interface SeenAgent {
  cwd: string;
  /** Of the last prompt that a model counted. */
  promptTokens: number;
  subagent?: Subagent;
}

export interface SeenAgents {
  /** What is true before anything happens here. */
  begin(lead: AgentView): void;
  /** Contract: told of every event, in order, after its line was printed. */
  note(event: Told): void;
  of(name: string): SeenAgent;
  has(name: string): boolean;
  /** Whose words a line has, as the published types say it. */
  fields(name: string): object;
}

export function createSeenAgents(lead: string): SeenAgents {
  const seen = new Map<string, SeenAgent>();
  let root = "";
  const of = (name: string): SeenAgent => {
    const one = seen.get(name) ?? { cwd: root, promptTokens: 0 };
    seen.set(name, one);
    return one;
  };
  return {
    begin(view) {
      root = view.root;
      for (const { name, cwd } of Object.values(view.slice<ContextState>("transcript").agents)) of(name).cwd = cwd;
      for (const [name, usage] of Object.entries(view.slice<BudgetState>("budget").last))
        of(name).promptTokens = promptOf(usage);
      for (const [name, one] of Object.entries(view.slice<SubagentsState>("subagents").agents)) of(name).subagent = one;
    },
    note({ actor, type, data }) {
      if (type === "agent.created") of(data.name).cwd = data.cwd;
      else if (type === "agent.moved") of(actor).cwd = data.cwd;
      else if (type === "reply.received") of(actor).promptTokens = promptOf(data.usage);
      else if (type === "subagent.started") of(actor).subagent = data;
    },
    of,
    has: (name) => seen.has(name),
    fields(name) {
      if (name === lead) return { parent_tool_use_id: null };
      const { subagent } = of(name);
      if (!subagent) return { parent_tool_use_id: null, agent_id: name };
      const { parent, callId, type, description } = subagent;
      return {
        parent_tool_use_id: callIdOf(parent, callId),
        agent_id: name,
        subagent_type: type,
        task_description: description,
      };
    },
  };
}

const promptOf = (usage: Usage): number => usage.input + usage.cacheRead + usage.cacheWrite;
