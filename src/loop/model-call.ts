// What the model is asked: the request as the seams put it together, and once more when it was too long.
import type { ModelRequest, Reply } from "../models/model.ts";
import type { Agent } from "./loop.ts";
import { timed } from "./model-calls.ts";
import { partsOf } from "./request-parts.ts";
import type { ModelCall } from "./seams.ts";
import { toolSpecs } from "./tool-specs.ts";

const FIRST_OUTPUT_TOKENS = 16_000;

interface Asking {
  call: ModelCall;
  /** Whether that is what the seams put together last, but for the length of its reply. */
  isBuilt: (request: ModelRequest) => boolean;
}

export async function modelCall(agent: Agent): Promise<Asking> {
  const { turn } = agent;
  let request = await buildRequest(agent, false);
  const shrink = async () => {
    const before = request.items;
    request = await buildRequest(agent, true);
    const { items } = request;
    return items.length === before.length && items.every((item, i) => item === before[i]) ? undefined : request;
  };
  return {
    call: { model: turn.model, request, turn, signal: turn.signal, shrink },
    isBuilt: ({ system, tools, items }) =>
      system === request.system && tools === request.tools && items === request.items,
  };
}

async function buildRequest(agent: Agent, overflow: boolean): Promise<ModelRequest> {
  const { turn, seams } = agent;
  const { settings: _, ...parts } = await partsOf(agent);
  const maxOutputTokens = Math.min(FIRST_OUTPUT_TOKENS, turn.model.limits.outputTokens);
  const items = await seams.context(turn.state.items, turn, {
    ...{ overflow, ...parts },
    keeps: () => seams.tools(turn).flatMap((tool) => (tool.keepsResults ? [tool.name] : [])),
    carry: () => seams.carry(turn),
    ask: (items) => askAside(agent, { ...parts, items, maxOutputTokens }),
  });
  // What is left out of the view may bring a tool with it: both change in one request.
  const { system, tools } = toolSpecs(seams.tools(turn)) === parts.tools ? parts : await partsOf(agent);
  return { system, tools, items, maxOutputTokens };
}

/** One call beside the conversation. Contract: nothing of it is shown, and it is not made smaller. */
function askAside({ turn, seams, modelCalls }: Agent, request: ModelRequest): Promise<Reply> {
  const call: ModelCall = { model: turn.model, request, turn, signal: turn.signal, shrink: async () => undefined };
  return seams.model(call, ({ model, request, signal }) => timed(modelCalls, () => model.reply(request, { signal })));
}
