// The lead's tools of a team: spawn, speak, ask for plans, review them, ask to shut down.
import * as z from "zod";
import type { contextState } from "../../loop/agent.ts";
import { defineTool, type Tool, type ToolRun } from "../../loop/seams.ts";
import { joining, reviewing, shuttingDown, type TeamFacts, wantingPlan } from "./decide.ts";
import { bus, teamState, teamWake } from "./talk.ts";

export interface LeadToolsOptions {
  /** The facts that make an agent one of a type. Contract: throws when there is no such type. */
  define?: (agent: string, type: string) => Promise<TeamFacts>;
  mostTeammates: number;
  /** Of all kinds. */
  mostAgents: number;
}

export const createLeadTools = (opts: LeadToolsOptions): Tool[] => [
  spawnTool(opts),
  ...bus,
  requestPlan,
  reviewPlan,
  requestShutdown,
];

interface Spawn {
  name: string;
  role: string;
  prompt: string;
  require_plan?: boolean;
  agent?: string;
}

const spawnTool = ({ define, mostTeammates, mostAgents }: LeadToolsOptions): Tool<Spawn> =>
  defineTool<Spawn>({
    name: "spawn_teammate",
    description:
      "Add a teammate that works on its own, in parallel, until shut down: takes tasks from the board, reports to you. require_plan: it may only look until its plan is approved.",
    schema: () =>
      z.strictObject({
        name: z.string(),
        role: z.string(),
        prompt: z.string(),
        require_plan: z.boolean().optional(),
        agent: z.string().optional(),
      }),
    effect: "internal",
    async execute({ turn, input }: ToolRun & { input: Spawn }) {
      const { name, role, prompt, require_plan: requirePlan = false, agent: type } = input;
      const taken = Object.keys(turn.slice<ReturnType<typeof contextState>>("transcript").agents);
      const [joined, ...rest] = joining(
        teamState(turn),
        { name, role, prompt, requirePlan, ...(type && { type }) },
        { taken, cwd: turn.root, most: mostTeammates, mostAgents },
      );
      const defined = type && define ? await define(name, type) : [];
      const gate = requirePlan ? " It may only look until its plan is approved." : "";
      return {
        content: `Spawned ${name} (${role}).${gate} It works while a host runs; you hear from it.`,
        events: [joined, ...defined, ...rest],
        wake: [teamWake(turn.context, 0)],
      };
    },
  });

const requestPlan = defineTool<{ name: string; about?: string }>({
  name: "request_plan",
  description: "Ask a teammate for a plan: until you approve it, it may only look.",
  schema: () => z.strictObject({ name: z.string(), about: z.string().optional() }),
  effect: "internal",
  async execute({ turn, input: { name, about = "" } }) {
    return {
      content: `${name} may only look until a plan of it is approved.`,
      events: wantingPlan(teamState(turn), name, about),
    };
  },
});

const reviewPlan = defineTool<{ request_id: string; approve: boolean; feedback?: string }>({
  name: "review_plan",
  description: "Answer a teammate's plan, once. A rejection says in feedback what to change.",
  schema: () => z.strictObject({ request_id: z.string(), approve: z.boolean(), feedback: z.string().optional() }),
  effect: "internal",
  async execute({ turn, input: { request_id: requestId, approve, feedback = "" } }) {
    const events = reviewing(teamState(turn), { requestId, approve, feedback });
    return { content: `${requestId} ${approve ? "approved" : "rejected"}`, events };
  },
});

const requestShutdown = defineTool<{ name: string; reason?: string }>({
  name: "request_shutdown",
  description: "Ask a teammate to shut down; it answers with the same request id.",
  schema: () => z.strictObject({ name: z.string(), reason: z.string().optional() }),
  effect: "internal",
  async execute({ turn, input: { name, reason = "" } }) {
    const { facts, requestId } = shuttingDown(teamState(turn), name, reason);
    return { content: `Asked ${name} to shut down: request ${requestId}. Its answer comes to you.`, events: facts };
  },
});
