// A teammate's tools: speak, submit a plan, answer a shutdown.
import * as z from "zod";
import { defineTool, type Tool, type ToolOutput, type Turn } from "../../loop/seams.ts";
import { answering, submitting } from "./decide.ts";
import { bus, teamState } from "./talk.ts";

export interface MateToolsOptions {
  /** Gives back what that teammate holds on the board. Contract: done twice, it changes nothing twice. */
  releaseTasks: (mate: { context: string; agent: string }, note: string) => Promise<string[]>;
  leaving?: (mate: Turn) => Pick<ToolOutput, "events" | "wake">;
}

export const createMateTools = (opts: MateToolsOptions): Tool[] => [...bus, submitPlan, answerShutdown(opts)];

const submitPlan = defineTool<{ plan: string }>({
  name: "submit_plan",
  description: "Hand in your plan for approval, then end your turn: the answer wakes you.",
  schema: () => z.strictObject({ plan: z.string() }),
  effect: "internal",
  async execute({ turn, input }) {
    const { facts, requestId } = submitting(teamState(turn), turn.agent, input.plan);
    return { content: `Plan submitted: request ${requestId}. End your turn now; the answer wakes you.`, events: facts };
  },
});

const answerShutdown = ({ releaseTasks, leaving }: MateToolsOptions): Tool =>
  defineTool<{ request_id: string; approve: boolean; reason?: string }>({
    name: "answer_shutdown",
    description: "Answer a shutdown request. approve: you leave the team, and unfinished tasks go back to the board.",
    schema: () => z.strictObject({ request_id: z.string(), approve: z.boolean(), reason: z.string().optional() }),
    effect: "internal",
    async execute({ turn, input: { request_id: requestId, approve, reason = "" } }) {
      const events = answering(teamState(turn), turn.agent, { requestId, approve, reason });
      if (!approve) return { content: `Refused: ${requestId}. You go on.`, events };
      await turn.append([]); // the reply that asks for it is durable before the board shows what it did
      const released = await releaseTasks(turn, `${turn.agent} has shut down (${requestId})`);
      const tasks = released.length === 0 ? "" : ` Back on the board: ${released.join(", ")}.`;
      const ended = leaving?.(turn);
      return {
        content: `You have shut down (${requestId}).${tasks} End your turn now.`,
        events: [...events, ...(ended?.events ?? [])],
        ...(ended?.wake && { wake: ended.wake }),
      };
    },
  });
