// How an error ends a turn: its code says the reason, its line is for people.
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { TURN_LIMITS, type TurnEndReason, type TurnLimit } from "./events.ts";

export interface TurnEnd {
  reason: TurnEndReason;
  error?: string;
  limit?: TurnLimit;
}

export function endBy(error: unknown): TurnEnd {
  const said = messageOf(error);
  if (isHoldfastError(error, "refused")) return { reason: "blocked", error: said };
  if (!isHoldfastError(error, "limit")) return { reason: "failed", error: said };
  // Whoever stops a turn at one of its own limits says which in the detail.
  const { limit: met }: Record<string, unknown> = isRecord(error.detail) ? error.detail : {};
  const limit = TURN_LIMITS.find((one) => one === met);
  return { reason: "limit", error: said, ...(limit && { limit }) };
}

/** Nothing more can be: another has the agent, the disk is full, the store does not answer. */
export const cannotBeRecorded = (error: unknown): boolean =>
  isHoldfastError(error, "fenced") || isHoldfastError(error, "disk") || isHoldfastError(error, "unreachable");
