// What the model is asked: the request as the seams put it together, and once more when it was too long.
import type { Delta, Item, ModelRequest, Reply } from "../models/model.ts";
import type { Agent } from "./loop.ts";
import { lastReply, timed } from "./model-calls.ts";
import { partsOf, sentAs } from "./request-parts.ts";
import type { ModelCall } from "./seams.ts";
import { toolSpecs } from "./tool-specs.ts";

const FIRST_OUTPUT_TOKENS = 16_000;

interface Asking {
  ask(): Promise<Reply>;
  /** How the last request was sent, whatever came of it; nothing where that is recorded. */
  how(): ReturnType<typeof sentAs>;
}

/** The model call of a round, ready to be made. */
export async function asking(agent: Agent): Promise<Asking> {
  const { turn, seams, modelCalls } = agent;
  let request = await buildRequest(agent, false);
  const shrink = async () => {
    const before = request.items;
    request = await buildRequest(agent, true);
    const { items } = request;
    return items.length === before.length && items.every((item, i) => item === before[i]) ? undefined : request;
  };
  const call: ModelCall = { model: turn.model, request, turn, signal: turn.signal, shrink };
  let sent = call;
  const onDelta = (delta: Delta) => turn.emit({ type: "delta", delta });
  modelCalls.asked = lastReply(turn.state.items);
  return {
    ask: () =>
      seams.model(call, (asked) => {
        sent = asked;
        return timed(modelCalls, () => asked.model.reply(asked.request, { signal: asked.signal, onDelta }));
      }),
    how: () => sentAs(agent, sent, { isAltered: !isSame(sent.request, request) }),
  };
}

/** But for the length of its reply. */
const isSame = (a: ModelRequest, b: ModelRequest): boolean =>
  a.system === b.system && a.tools === b.tools && a.items === b.items;

/** Contract: what is recorded of it is that the view changed, where it did. */
export async function buildRequest(agent: Agent, overflow: boolean): Promise<ModelRequest> {
  const { turn, seams } = agent;
  const { settings: _, ...parts } = await partsOf(agent);
  const maxOutputTokens = Math.min(FIRST_OUTPUT_TOKENS, turn.model.limits.outputTokens);
  const unreadable = turn.state.sent?.as?.wire?.unreadable;
  const items = await seams.context(turn.state.items, turn, {
    ...{ overflow, ...parts },
    keeps: () => seams.tools(turn).flatMap((tool) => (tool.keepsResults ? [tool.name] : [])),
    offers: (tool) => seams.offers(tool, turn),
    carry: (how) => seams.carry(turn, how),
    ask: (items, signal = turn.signal) => askAside(agent, { ...parts, items, maxOutputTokens, unreadable }, { signal }),
  });
  // What is left out of the view may bring a tool with it: both change in one request.
  const { system, tools } = toolSpecs(seams.tools(turn)) === parts.tools ? parts : await partsOf(agent);
  return { system, tools, items, maxOutputTokens, unreadable };
}

/** Asks on what the model would be shown now, with that behind it. */
export async function askBehind(agent: Agent, question: Item): Promise<Reply> {
  const request = await buildRequest(agent, false);
  const asked = { ...request, items: [...request.items, question] };
  return askAside(agent, asked, { signal: agent.turn.signal, isNoRound: true });
}

type HowAsked = Pick<ModelCall, "signal" | "isNoRound">;

/** One call beside the conversation. Contract: nothing of it is shown, and it is not made smaller. */
function askAside({ turn, seams, modelCalls }: Agent, request: ModelRequest, how: HowAsked): Promise<Reply> {
  const call: ModelCall = { model: turn.model, request, turn, shrink: async () => undefined, ...how };
  return seams.model(call, ({ model, request, signal }) => timed(modelCalls, () => model.reply(request, { signal })));
}
