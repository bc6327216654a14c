// The result line: how a turn ended, what it used, in the fields that Anthropic's SDKs read.

import { isMissed, missedText } from "../../mechanisms/goal/port.ts";
import { costUsd, limitsOf } from "../../models/catalogue.ts";
import type { Usage } from "../../models/model.ts";
import type { RunResult } from "../../run-result.ts";
import { sdkUsage } from "./message.ts";

/** What the events of the turn said, and its result does not. */
export interface TurnSaid {
  /** Of the lead's last reply. */
  stopReason: string | null;
  /** What began it, where that was not the user. */
  origin?: object;
}

export function resultLine(
  result: RunResult,
  { stopReason, origin }: TurnSaid,
  { denials, misfit }: { denials: object[] /** Why the answer is not the one that was asked for. */; misfit?: string },
): object {
  const isGoalMissed = result.reason === "done" && isMissed(result.goal);
  const isError = result.reason !== "done" || isGoalMissed || misfit !== undefined;
  const why = misfit ?? (isGoalMissed ? missedText(result.goal) : (result.error ?? result.reason));
  const models = Object.entries(result.usageByModel);
  return {
    type: "result",
    subtype: misfit === undefined ? subtypeOf(result, isGoalMissed) : "error_max_structured_output_retries",
    is_error: isError,
    duration_ms: result.durationMs,
    duration_api_ms: result.modelMs,
    num_turns: result.rounds,
    result: isError && result.text === "" ? why : result.text,
    ...(isError && { errors: [why] }),
    stop_reason: stopReason,
    ...(misfit === undefined ? terminalReason(result) : { terminal_reason: "structured_output_retry_exhausted" }),
    total_cost_usd: models.reduce((sum, [model, usage]) => sum + (costUsd(model, usage) ?? 0), 0),
    usage: { ...sdkUsage(result.turnUsageByModel), ...cacheBreaks(result.turnCacheBreaks) },
    modelUsage: Object.fromEntries(models.map(([model, usage]) => [model, modelUsage(model, usage)])),
    permission_denials: denials,
    ...(result.goal && { goal: result.goal }), // not a field of theirs
    ...(origin && { origin }),
  };
}

/** Not a field of theirs: the requests that no cache could serve, and why; nothing where there are none. */
const cacheBreaks = ({ requests, byCause }: RunResult["turnCacheBreaks"]): object =>
  requests > 0 ? { cache_breaks: { requests, by_cause: byCause } } : {};

function subtypeOf({ reason, budget, limit }: RunResult, isGoalMissed: boolean): string {
  if (isGoalMissed) return "error_during_execution";
  if (reason === "done") return "success";
  if (budget !== undefined) return "error_max_budget_usd";
  return reason === "limit" && limit !== "repetition" ? "error_max_turns" : "error_during_execution";
}

/** Only where one of the published words is certain. */
function terminalReason({ reason, budget, limit, interruptedIn }: RunResult): { terminal_reason?: string } {
  if (reason === "done") return { terminal_reason: "completed" };
  if (budget !== undefined) return { terminal_reason: "budget_exhausted" };
  if (limit === "rounds") return { terminal_reason: "max_turns" };
  if (interruptedIn !== undefined)
    return { terminal_reason: interruptedIn === "model" ? "aborted_streaming" : "aborted_tools" };
  return {};
}

/** Of a model without a known price the cost is not 0 but unknown: the published word for that is its basis. */
function modelUsage(model: string, usage: Usage): object {
  const cost = costUsd(model, usage);
  const { contextTokens, outputTokens } = limitsOf(model);
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadInputTokens: usage.cacheRead,
    cacheCreationInputTokens: usage.cacheWrite,
    webSearchRequests: 0,
    costUSD: cost ?? 0,
    costBasis: cost === undefined ? "unknown" : "list",
    contextWindow: contextTokens,
    maxOutputTokens: outputTokens,
  };
}
