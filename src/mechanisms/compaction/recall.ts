// `recall`: any part of the agent's own conversation again, or of those it started, by its name or by words, with what has become of it since.
import * as z from "zod";
import { messageOf } from "../../ledger/error.ts";
import { defineTool } from "../../loop/seams.ts";

export interface RecallInput {
  ref?: string;
  query?: string;
  agent?: string;
  tool?: string;
  offset?: number;
  limit?: number;
}

export const recallTool = defineTool<RecallInput>({
  name: "recall",
  description:
    "Bring back what was left out of this conversation. ref: a call (c17), a reply (r12) or what was said to you (u3), whole or some lines; query: literal words, newest first. An agent you started: alice/c17, or agent.",
  schema: () =>
    z.strictObject({
      ref: z.string().optional(),
      query: z.string().optional(),
      agent: z.string().optional(),
      tool: z.string().optional().describe("query: only calls of this tool"),
      offset: z.int().min(1).optional().describe("ref: first line"),
      limit: z.int().min(1).optional(),
    }),
  effect: "read",
  async execute(run) {
    try {
      const { recalled } = await import("./recall-run.ts");
      return await recalled(run);
    } catch (error) {
      return { content: messageOf(error), isError: true };
    }
  },
});
