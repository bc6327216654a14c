// What spans say besides their times: OpenTelemetry's names for generative AI, and a few of our own. No texts of the conversation.
import type { Fact } from "../../ledger/events.ts";
import type { loopEvents } from "../../loop/events.ts";
import { costUsd } from "../../models/catalogue.ts";
import { addUsage, type Finish, noUsage, type Usage } from "../../models/model.ts";
import { isPlainName } from "../presentation/outgoing-names.ts";
import { oneLine } from "../presentation/printable.ts";
import type { OpenTurn, ToolResult } from "./open-turn.ts";
import type { Attributes } from "./span.ts";

type DataOf<T extends Fact<typeof loopEvents>["type"]> = Extract<Fact<typeof loopEvents>, { type: T }>["data"];
export type Replied = DataOf<"reply.received"> | DataOf<"reply.aside">;

/** Where the conventions have another name for a provider than our models. */
const PROVIDERS: Readonly<Record<string, string>> = {
  ...{ google: "gcp.gemini", gemini: "gcp.gemini", vertex: "gcp.vertex_ai", mistral: "mistral_ai", xai: "x_ai" },
  ...{ bedrock: "aws.bedrock", azure: "azure.ai.openai" },
};

const FINISHES: Record<Finish, string> = {
  ...{ stop: "stop", calls: "tool_call", length: "length", refused: "content_filter", other: "other" },
};

/** `provider/name` in two; a model without a provider is its own. */
function modelIn(model: string): { provider: string; name: string } {
  const at = model.indexOf("/");
  const provider = oneLine(at < 0 ? model : model.slice(0, at), 80);
  return { provider: PROVIDERS[provider] ?? provider, name: oneLine(at < 0 ? model : model.slice(at + 1), 120) };
}

/** Conventions count what a cache served as input. */
const usageAttributes = ({ input, output, cacheRead, cacheWrite }: Usage): Attributes => ({
  "gen_ai.usage.input_tokens": input + cacheRead + cacheWrite,
  "gen_ai.usage.output_tokens": output,
  "gen_ai.usage.cache_read.input_tokens": cacheRead,
  "gen_ai.usage.cache_creation.input_tokens": cacheWrite,
});

const ofAgent = (context: string, { id, name }: OpenTurn): Attributes => ({
  "gen_ai.agent.id": `${context}/${id}`,
  "gen_ai.agent.name": name,
  "gen_ai.conversation.id": context,
});

const costAttribute = (usd: number | undefined): Attributes => (usd === undefined ? {} : { "holdfast.cost.usd": usd });

export function turnAttributes(
  context: string,
  turn: OpenTurn,
  { reason, failed }: { reason: string; failed: boolean },
): Attributes {
  const models = new Set(turn.usages.map(({ model }) => model));
  const [model] = models;
  const known = model !== undefined && models.size === 1 ? modelIn(model) : undefined;
  const costs = turn.usages.map(({ model: of, usage }) => costUsd(of, usage));
  const usd = costs.every((cost) => cost !== undefined) ? costs.reduce((sum, cost) => sum + cost, 0) : undefined;
  return {
    "gen_ai.operation.name": "invoke_agent",
    ...(known && { "gen_ai.provider.name": known.provider, "gen_ai.request.model": known.name }),
    ...ofAgent(context, turn),
    ...usageAttributes(turn.usages.reduce((sum, { usage }) => addUsage(sum, usage), noUsage())),
    ...(failed && { "error.type": reason }),
    "holdfast.turn.id": turn.turnId,
    "holdfast.turn.cause": turn.cause,
    "holdfast.turn.reason": reason,
    "holdfast.turn.rounds": turn.rounds,
    ...costAttribute(usd),
  };
}

/** When its calls were asked for: the end of the answer. Only a reply with calls says it. */
export const askedOf = (data: Replied): number | undefined => ("askedAt" in data ? data.askedAt : undefined);

export function chatAttributes(context: string, turn: OpenTurn, data: Replied): Attributes {
  const { provider, name } = modelIn(data.model);
  return {
    ...{ "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": name },
    ...("for" in data
      ? { "holdfast.aside.for": oneLine(data.for, 80) }
      : {
          ...(data.sentAs && { "gen_ai.request.max_tokens": data.sentAs.maxOutputTokens }),
          "gen_ai.response.finish_reasons": [FINISHES[data.finish]],
        }),
    ...usageAttributes(data.usage),
    ...ofAgent(context, turn),
    ...costAttribute(costUsd(data.model, data.usage)),
  };
}

/** The kind of its failure; undefined: it worked. */
export function failureOf({ isError, denied, refusal, stopped, ran }: ToolResult): string | undefined {
  if (denied !== undefined) return refusal ? `refused.${oneLine(refusal.code, 60)}` : "refused";
  if (stopped !== undefined) return "interrupted";
  if (!isError) return undefined;
  return ran && ran.status !== "completed" ? ran.status : "tool_error";
}

export const toolAttributes = (
  context: string,
  turn: OpenTurn,
  { data, name, failure }: { data: ToolResult; name: string; failure: string | undefined },
): Attributes => ({
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": name,
  ...(isPlainName(data.callId) && { "gen_ai.tool.call.id": data.callId }),
  "gen_ai.tool.type": "function",
  ...ofAgent(context, turn),
  ...(failure !== undefined && { "error.type": failure }),
  ...(data.resumed && { "holdfast.tool.resumed": data.resumed }),
  ...(data.ran?.exitCode !== undefined && { "process.exit.code": data.ran.exitCode }),
});
