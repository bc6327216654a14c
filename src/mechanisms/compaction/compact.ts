// `compact`: the agent makes room itself, where a piece of work ends.
import * as z from "zod";
import { defineTool } from "../../loop/seams.ts";

export const compactTool = defineTool<{ focus?: string }>({
  name: "compact",
  description:
    "Make room: old results leave your view; recall brings them back. It happens by itself when room runs out.",
  schema: () => z.strictObject({ focus: z.string().optional() }),
  effect: "internal",
  async execute({ input: { focus } }) {
    return {
      content: "Done before your next reply.",
      events: [{ type: "compaction.asked", data: { ...(focus !== undefined && { focus }) } }],
    };
  },
});
