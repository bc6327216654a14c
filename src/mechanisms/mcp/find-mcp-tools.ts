// `find_mcp_tools`: where servers have too many tools to be offered all, the ones for some words; they are offered from the next round on.
import * as z from "zod";
import { defineTool, type Tool, type ToolRun } from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";
import { byWords } from "../../text/word-search.ts";
import type { Offering } from "./offering.ts";
import type { Sight } from "./sight.ts";

const MOST_FOUND = 8;
const LONGEST_DESCRIPTION = 300;

export function createFindTool(offering: Offering, sight: Sight): Tool<{ query: string }> {
  async function execute({ input, turn }: ToolRun & { input: { query: string } }) {
    const { entries } = offering.known(sight.state(turn));
    const all = entries.map(({ name, definition }) => ({ name, description: definition.description }));
    const exact = all.filter(({ name }) => name === input.query.trim());
    const hits = (exact.length > 0 ? exact : byWords(all, input.query)).slice(0, MOST_FOUND);
    if (hits.length === 0)
      return { content: `None of ${all.length} tools has these words. Try others, or fewer.`, isError: true };
    const lines = hits.map(
      ({ name, description }) => `- ${name}: ${cutText(description.replaceAll(/\s+/g, " "), LONGEST_DESCRIPTION)}`,
    );
    return {
      content: ["Offered from the next round on:", ...lines].join("\n"),
      events: [{ type: "mcp.found", data: { names: hits.map(({ name }) => name) } }],
    };
  }

  return defineTool({
    name: "find_mcp_tools",
    description:
      "Find tools of connected MCP servers by words of what they do. Those found are offered from the next round on.",
    schema: () => z.strictObject({ query: z.string() }),
    effect: "read",
    execute,
  });
}
