// What people are told of an epoch.
import { counted } from "../../text/counted.ts";
import type { Compacted, Epoch } from "./events.ts";

/** `12 old tool results and 3 old rounds left out`. */
export function leftOut({ masks, snips }: Pick<Compacted, "masks" | "snips">): string {
  const rounds = snips.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const parts = [
    ...(masks.length > 0 ? [counted(masks.length, "old tool result")] : []),
    ...(rounds > 0 ? [counted(rounds, "old round")] : []),
  ];
  return `${parts.join(" and ")} left out`;
}

const WHY = {
  asked: "room was made",
  window: "room was made for what comes",
  overflow: "the conversation no longer fits",
} as const;

export const compactedText = ({
  cause,
  tokens,
  ...left
}: Pick<Compacted, "masks" | "snips" | "cause" | "tokens">): string =>
  `${WHY[cause]}: ${leftOut(left)}${tokensText({ tokens: tokens.after, before: tokens.before })}`;

const thousands = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(1)}k`);

/** ` (about 61.2k → 8.4k tokens)`. */
export const tokensText = ({ before, tokens }: Pick<Epoch, "before" | "tokens">): string =>
  before === undefined || tokens === undefined ? "" : ` (about ${thousands(before)} → ${thousands(tokens)} tokens)`;

export const assumedText = (model: string, tokens: number): string =>
  `how much ${model} reads at once is not known: ${tokens} tokens are assumed; --context-window says otherwise, or models in your settings`;
