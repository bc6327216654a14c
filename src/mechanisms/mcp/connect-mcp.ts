// `connect_mcp`: connects a server that is configured; its tools are offered from the next round on.
import * as z from "zod";
import { inside } from "../../loop/marks.ts";
import { defineTool, type Tool, type ToolOutput, type ToolRun } from "../../loop/seams.ts";
import { nearestName } from "../../text/similarity.ts";
import type { McpState } from "./events.ts";
import { CONNECT_MCP } from "./names.ts";
import { shownName, shownText } from "./offer.ts";
import type { Offering } from "./offering.ts";
import { withoutResult } from "./outcome-text.ts";
import { type Connected, isRecorded, recorded, type Servers } from "./servers.ts";
import type { Sight } from "./sight.ts";

export function createConnectTool(servers: Servers, offering: Offering, sight: Sight): Tool<{ name: string }> {
  async function execute({ input, turn, signal }: ToolRun & { input: { name: string } }): Promise<ToolOutput> {
    const seen = sight.of(turn);
    const server = seen.find(({ name }) => name === input.name);
    if (!server) {
      const names = seen.map(({ name }) => name);
      const near = nearestName(input.name, names);
      const known = near ? `Did you mean ${near}?` : `Servers: ${names.join(", ")}.`;
      return { content: `There is no MCP server ${input.name}. ${known}`, isError: true };
    }
    const opened = await servers.open(server, { signal, isAsked: true });
    if (opened.kind !== "done") return withoutResult(server, opened, { what: "connect_mcp" });
    const state = sight.state(turn);
    const events = isRecorded(state, opened.value) ? [] : [recorded(opened.value)];
    return { content: connectedText(opened.value, offering, state), events };
  }

  return defineTool({
    name: CONNECT_MCP,
    description: "Connect a configured MCP server. Its tools are offered from the next round on, as mcp__server__tool.",
    schema: () => z.strictObject({ name: z.string() }),
    effect: "read",
    execute,
  });
}

function connectedText(connected: Connected, offering: Offering, state: McpState): string {
  const { connection, tools, changed } = connected;
  const { name } = connection.server;
  const { entries, collisions, isDeferred } = offering.with(state, connected);
  const ours = entries.filter(({ server }) => server.name === name).map((entry) => entry.name);
  const lines = [
    isDeferred
      ? `Connected to ${name}: ${tools.length} tools. With those of other servers they are too many to be offered at once: find_mcp_tools finds the ones you need.`
      : `Connected to ${name}. Offered from the next round on: ${ours.join(", ") || "no tools"}.`,
  ];
  for (const { tool, taken } of collisions.filter((one) => one.server === name))
    lines.push(
      `Not offered: ${shownName(tool)}, because ${taken.server} has ${shownName(taken.tool)}, which would have the same name.`,
    );
  for (const tool of changed.keys())
    lines.push(
      `${shownName(tool)} is described in another way than when it was first used here: a call of it asks a person first.`,
    );
  const { instructions } = connection;
  if (instructions?.trim())
    lines.push(
      `<server_instructions from="${name}">\n${inside("server_instructions", shownText(instructions))}\n</server_instructions>`,
    );
  return lines.join("\n");
}
