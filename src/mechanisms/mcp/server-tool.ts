// A tool of a server as one of ours: the first call connects, the result is bounded like any other, a changed definition is refused.
import * as z from "zod";
import { defineTool, type Tool, type ToolRun, type Turn } from "../../loop/seams.ts";
import type { CallPart } from "../../models/model.ts";
import type { ToolDefinition } from "./offer.ts";
import { outputOf, withoutResult } from "./outcome-text.ts";
import type { McpServer } from "./port.ts";
import type { Servers } from "./servers.ts";

/** Which change a person was asked about, by call. */
export type Agreed = Map<string, string>;

export const serverCallKey = ({ context, agent }: Turn, { id }: CallPart): string => `${context} ${agent} ${id}`;

export function createServerTool(
  name: string,
  server: McpServer,
  definition: ToolDefinition,
  { servers, agreed }: { servers: Servers; agreed: Agreed },
): Tool<Record<string, unknown>> {
  const { tool, description, schema, readOnly } = definition;

  async function execute({ call, input, turn, signal }: ToolRun & { input: Record<string, unknown> }) {
    const opened = await servers.open(server, { signal });
    if (opened.kind !== "done") return withoutResult(server, opened, { what: name });
    const { connection } = opened.value;
    const now = opened.value.changed.get(tool);
    if (now) {
      if (agreed.get(serverCallKey(turn, call)) !== now.hash)
        return { content: changedText(name, server), isError: true };
      await servers.approve(server.name, now);
    }
    if (!opened.value.tools.some((one) => one.tool === tool))
      return { content: `Not run: the MCP server ${server.name} no longer has ${tool}.`, isError: true };
    const notes: string[] = [];
    const asker = { turn, callId: call.id, tell: (says: string) => void notes.push(says) };
    const onProgress = (says: string) => turn.emit({ type: "output", callId: call.id, text: `${says}\n` });
    const outcome = await servers.asking(server.name, asker, () =>
      connection.call(tool, input, { signal, onProgress }),
    );
    if (outcome.kind === "done") return outputOf(outcome.value, notes);
    return withoutResult(server, outcome, { what: name, acted: !readOnly });
  }

  return defineTool({
    name,
    description,
    schema: anyObject,
    json: schema,
    effect: readOnly ? "read" : "external",
    execute,
  });
}

/** The server checks its own arguments. */
const anyObject = () => z.record(z.string(), z.unknown());

const changedText = (name: string, server: McpServer): string =>
  `Not run: the MCP server ${server.name} describes ${name} in another way than when it was first used in this project. Send the call again: a person is asked whether the new description holds.`;
