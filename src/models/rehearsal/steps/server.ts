// Steps with MCP servers: connect one, and search with the tool that it has for that.
import { attempt, call, paragraphs, type Stage, type Step } from "../plan.ts";
import type { IntentOf } from "../request.ts";
import { fenced, firstLine } from "./results.ts";

const LINES_SHOWN = 20;

export function* connectServer(stage: Stage, { server, query }: IntentOf<"server">): Step {
  const { say, tools } = stage;
  if (!tools.has("connect_mcp")) return { text: say("noServers", { server }), ok: false };
  const connected = yield* attempt(stage, { name: "connect_mcp", input: { name: server } });
  if (!connected.ok || query === undefined) return connected;
  const name = `mcp__${server}__search`;
  const { text, isError } = yield* call(stage, name, { query });
  if (isError) return { text: paragraphs([connected.text, say("failed", { name, why: firstLine(text) })]), ok: false };
  const lines = text.trimEnd().split("\n").slice(0, LINES_SHOWN);
  return { text: paragraphs([connected.text, `${say("serverFound", { query, server })}\n${fenced(lines)}`]), ok: true };
}
