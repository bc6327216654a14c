// What people are told of an epoch.
import { counted } from "../../text/counted.ts";
import type { Compacted } from "./events.ts";

/** `12 old tool results and 3 old rounds left out`. */
export function leftOut({ masks, snips }: Pick<Compacted, "masks" | "snips">): string {
  const rounds = snips.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const parts = [
    ...(masks.length > 0 ? [counted(masks.length, "old tool result")] : []),
    ...(rounds > 0 ? [counted(rounds, "old round")] : []),
  ];
  return `${parts.join(" and ")} left out`;
}

export const compactedText = (epoch: Pick<Compacted, "masks" | "snips" | "cause">): string =>
  `${epoch.cause === "asked" ? "room was made" : "the conversation no longer fits"}: ${leftOut(epoch)}`;

export const assumedText = (model: string, tokens: number): string =>
  `how much ${model} reads at once is not known: ${tokens} tokens are assumed; --context-window says otherwise, or models in your settings`;
