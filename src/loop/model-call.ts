// What the model is asked: the request as the seams put it together, and once more when it was too long.
import type { ModelRequest } from "../models/model.ts";
import type { Agent } from "./loop.ts";
import { partsOf } from "./request-parts.ts";
import type { ModelCall } from "./seams.ts";

const FIRST_OUTPUT_TOKENS = 16_000;

export async function modelCall(agent: Agent): Promise<ModelCall> {
  const { turn } = agent;
  let request = await buildRequest(agent, false);
  const shrink = async () => {
    const before = request.items;
    request = await buildRequest(agent, true);
    const { items } = request;
    return items.length === before.length && items.every((item, i) => item === before[i]) ? undefined : request;
  };
  return { model: turn.model, request, turn, signal: turn.signal, shrink };
}

async function buildRequest(agent: Agent, overflow: boolean): Promise<ModelRequest> {
  const { turn, seams } = agent;
  const { system, tools } = await partsOf(agent);
  const keeps = overflow ? seams.tools(turn).flatMap((tool) => (tool.keepsResults ? [tool.name] : [])) : [];
  return {
    system,
    tools,
    items: await seams.context(turn.state.items, turn, { overflow, tools, keeps }),
    maxOutputTokens: Math.min(FIRST_OUTPUT_TOKENS, turn.model.limits.outputTokens),
  };
}
