// The budget of a context: one counter for all its agents, in any process; a call reserves before it starts and its reply settles.
import { HoldfastError } from "../../ledger/error.ts";
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type ModelCall, type Turn } from "../../loop/seams.ts";
import { costUsd } from "../../models/catalogue.ts";
import { ModelError, noUsage, type Usage } from "../../models/model.ts";
import { admission, STALE_MS, spentIn, tokensOf } from "./account.ts";
import { BUDGET_KINDS, type Budget, type BudgetState, budgetEvents, budgetSlice } from "./events.ts";

/** Before a first call nobody knows what it costs: its size, and an answer of this many tokens. */
const FIRST_OUTPUT = 1_000;
const CHARS_PER_TOKEN = 4;

const stateOf = (turn: Pick<Turn, "slice">): BudgetState => turn.slice<BudgetState>("budget");

/** Which limit of its budget a context has come to, if any. */
export function budgetReached(turn: Pick<Turn, "slice">): keyof Budget | undefined {
  const state = stateOf(turn);
  const spent = spentIn(state);
  return BUDGET_KINDS.find((kind) => state.limits[kind] !== undefined && spent[kind] >= state.limits[kind]);
}

export const unknownPrice = (model: string): string =>
  `the price of ${model} is not known, so that a budget in money cannot be kept: give one in tokens or rounds, or use a model with a known price`;

export function createBudget({ budget = {} }: { budget?: Budget } = {}): Mechanism {
  return defineMechanism({
    name: "budget",
    carry: nothing,
    settings: () => ({ ...budget }),
    decides: ["budget.set", "budget.reserved", "budget.spent", "budget.released"],
    events: budgetEvents,
    fold: budgetSlice,
    seams: {
      async model(call, next) {
        const { turn } = call;
        const wanted = changed(budget, stateOf(turn).limits);
        const limits = { ...stateOf(turn).limits, ...wanted };
        if (BUDGET_KINDS.every((kind) => limits[kind] === undefined)) return next(call);
        if (limits.usd !== undefined && costUsd(call.model.id, noUsage()) === undefined)
          throw new HoldfastError("refused", unknownPrice(call.model.id));
        await turn.append([
          ...(wanted ? [{ type: "budget.set", data: wanted }] : []),
          { type: "budget.reserved", data: estimate(call) },
        ]);
        try {
          await admitted(call);
          const reply = await next(call);
          // What was cut off may be asked for again: it was paid for, and is recorded only with the next reply.
          if (reply.finish === "length") {
            const data = { model: reply.model, usage: reply.usage };
            await turn.append([{ type: "budget.spent", data }], { durability: "deferred" });
          }
          return reply;
        } catch (error) {
          await turn.append([{ type: "budget.released", data: {} }], { durability: "deferred" }).catch(() => undefined);
          throw error;
        }
      },
    },
  });
}

/** What this process was told and the context does not know yet. */
function changed(budget: Budget, known: Budget): Budget | undefined {
  const kinds = BUDGET_KINDS.filter((kind) => budget[kind] !== undefined && budget[kind] !== known[kind]);
  return kinds.length === 0 ? undefined : Object.fromEntries(kinds.map((kind) => [kind, budget[kind]]));
}

/** About what its last call cost. */
function estimate({ turn, request, model }: ModelCall): { tokens: number; usd: number } {
  const { last } = stateOf(turn);
  const usage: Usage = last[turn.agent] ?? {
    ...noUsage(),
    input: Math.ceil(JSON.stringify([request.system, request.tools, request.items]).length / CHARS_PER_TOKEN),
    output: FIRST_OUTPUT,
  };
  return { tokens: tokensOf(usage), usd: costUsd(model.id, usage) ?? 0 };
}

/** Returns when the call may be made. Near the limit calls wait for those before them: what they really cost decides. */
async function admitted({ turn, signal, model }: ModelCall): Promise<void> {
  const look = () => admission(stateOf(turn), turn.agent, Date.now());
  for (let told = false; ; told = true) {
    const answer = look();
    if (answer.kind === "go") return;
    if (answer.kind === "over") throw spentAll(stateOf(turn), answer.what);
    if (answer.kind === "unpriced") throw new HoldfastError("refused", unknownPrice(answer.model));
    if (!told) turn.emit({ type: "status", text: "near the budget: waiting for the calls before this one" });
    await turn.until(() => look().kind !== "wait", AbortSignal.any([signal, AbortSignal.timeout(STALE_MS)]));
    if (signal.aborted) throw new ModelError("aborted", `${model.id}: interrupted before the call`);
  }
}

function spentAll(state: BudgetState, what: keyof Budget): HoldfastError {
  const spent = spentIn(state)[what];
  const limit = state.limits[what]!;
  const text = {
    tokens: `${spent} of ${limit} tokens`,
    usd: `$${spent.toFixed(4)} of $${limit}`,
    rounds: `${spent} of ${limit} model calls`,
  }[what];
  const how = what === "usd" ? "a higher --max-budget-usd" : `a higher budget (${what})`;
  return new HoldfastError(
    "limit",
    `the budget of this context is spent, by all its agents: ${text}; go on with ${how}`,
  );
}
