// The sums of a budget: what was spent, what stands reserved before a call, and whether that call may be made.
import { own } from "../../ledger/own.ts";
import { costUsd } from "../../models/catalogue.ts";
import { addUsage, noUsage, type Usage } from "../../models/model.ts";
import { BUDGET_KINDS, type Budget, type BudgetState } from "./events.ts";

/** A reservation older than this belongs to a call that nobody makes any more. */
export const STALE_MS = 5 * 60_000;

export type Spent = Record<(typeof BUDGET_KINDS)[number], number> & {
  /** A model whose price is not known: then `usd` is too little. */
  unpriced?: string;
};

export const tokensOf = (usage: Usage): number => usage.input + usage.output + usage.cacheWrite;

export function spentIn({ rounds, byModel, unrecorded }: BudgetState): Spent {
  const models: Record<string, Usage> = { ...byModel };
  for (const { model, usage } of Object.values(unrecorded))
    models[model] = addUsage(own(models, model) ?? noUsage(), usage);
  const spent: Spent = { tokens: 0, usd: 0, rounds };
  for (const [model, usage] of Object.entries(models)) {
    spent.tokens += tokensOf(usage);
    const cost = costUsd(model, usage);
    if (cost === undefined && tokensOf(usage) + usage.cacheRead > 0) spent.unpriced ??= model;
    spent.usd += cost ?? 0;
  }
  return spent;
}

export type Admission =
  | { kind: "go" }
  | { kind: "wait" }
  | { kind: "over"; what: keyof Budget }
  | { kind: "unpriced"; model: string };

/** Contract: calls are admitted in the order of their reservations; one alone is never kept waiting. */
export function admission(state: BudgetState, agent: string, now: number): Admission {
  const spent = spentIn(state);
  if (state.limits.usd !== undefined && spent.unpriced !== undefined)
    return { kind: "unpriced", model: spent.unpriced };
  const mine = state.standing[agent]?.seq ?? Number.POSITIVE_INFINITY;
  const before = Object.entries(state.standing).filter(
    ([other, { seq, at }]) => other !== agent && seq < mine && now - at < STALE_MS,
  );
  const reserved = { tokens: 0, usd: 0, rounds: before.length };
  for (const [, { tokens, usd }] of before) {
    reserved.tokens += tokens;
    reserved.usd += usd;
  }
  let answer: Admission = { kind: "go" };
  for (const what of BUDGET_KINDS) {
    const limit = state.limits[what];
    if (limit === undefined) continue;
    if (spent[what] >= limit) return { kind: "over", what };
    if (spent[what] + reserved[what] >= limit) answer = { kind: "wait" };
  }
  return answer;
}
