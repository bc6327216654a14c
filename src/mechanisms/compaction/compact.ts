// `compact`: the agent makes room itself, where a piece of work ends.
import * as z from "zod";
import { defineTool } from "../../loop/seams.ts";

export const compactTool = defineTool<{ focus?: string }>({
  name: "compact",
  description:
    "Make room in this conversation: old tool results and rounds leave your view and stay within reach of recall. For the end of a piece of work; it happens by itself when room runs out.",
  schema: () => z.strictObject({ focus: z.string().optional().describe("what to keep above all") }),
  effect: "internal",
  async execute({ input: { focus } }) {
    return {
      content: "Done before your next reply.",
      events: [{ type: "compaction.asked", data: { ...(focus !== undefined && { focus }) } }],
    };
  },
});
