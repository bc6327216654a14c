// One run as its caller sees it: what happened on the way, and the result at its end.
import { HoldfastError } from "./ledger/error.ts";
import { own } from "./ledger/own.ts";
import type { StoredEvent } from "./ledger/store.ts";
import { contextState, LEAD } from "./loop/agent.ts";
import { type Drive, drive } from "./loop/drive.ts";
import type { TurnEndReason, TurnLimit } from "./loop/events.ts";
import type { Taken } from "./loop/host.ts";
import type { ModelCalls } from "./loop/model-calls.ts";
import type { Progress } from "./loop/seams.ts";
import type { Budget } from "./mechanisms/budget/events.ts";
import { budgetReached } from "./mechanisms/budget/index.ts";
import { type GoalResult, goalResult, lastEnded } from "./mechanisms/goal/port.ts";
import { breaksSince, cacheBreaksIn, type PromptCacheState } from "./mechanisms/prompt-cache/index.ts";
import type { CacheBreaks } from "./mechanisms/prompt-cache/port.ts";
import { costUsd } from "./models/catalogue.ts";
import { addUsage, type Content, noUsage, subtractUsage, type Usage } from "./models/model.ts";

export type HarnessEvent = { type: "event"; event: StoredEvent } | { type: "progress"; progress: Progress };

export interface RunResult {
  context: string;
  reason: TurnEndReason;
  text: string;
  error?: string;
  rounds: number;
  /** Of all agents of the context. */
  usage: Usage;
  usageByModel: Record<string, Usage>;
  /** The requests of all agents of the context that a provider's cache could not serve, and why. */
  cacheBreaks: CacheBreaks;
  /** Of these the lead's, since this run or the result before it began. */
  turnCacheBreaks: CacheBreaks;
  /** What the lead alone used, since this run or the result before it began. */
  turnUsageByModel: Record<string, Usage>;
  /** How long the lead's model calls took in that time, in this process. */
  modelMs: number;
  /** The limit of the context's budget that ended it. */
  budget?: keyof Budget;
  /** The limit of the turn that ended it. */
  limit?: TurnLimit;
  /** Where an interrupt met it. */
  interruptedIn?: "model" | "tools";
  /** The goal that is set, or ended in this time. */
  goal?: GoalResult;
  /** Undefined when a model's price is unknown. */
  costUsd: number | undefined;
  denials: { name: string; callId: string; input: unknown; reason: string }[];
  durationMs: number;
}

/** Keeps what happened until it is iterated; not used when an `onEvent` takes it at once. */
export function createEventQueue() {
  const waiting: HarnessEvent[] = [];
  let ended = false;
  let iterated = false;
  let wake: () => void = () => undefined;
  return {
    push(event: HarnessEvent) {
      waiting.push(event);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    /** One at a time: two would each get a part. After a `break` another one goes on with what is left. */
    async *iterate(): AsyncGenerator<HarnessEvent, void, undefined> {
      if (iterated)
        throw new HoldfastError("invalid", "this run is iterated already: pass onEvent, or share what one loop reads");
      iterated = true;
      try {
        while (!ended || waiting.length > 0) {
          const next = waiting.shift();
          if (next) yield next;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      } finally {
        iterated = false;
      }
    },
  };
}

const TITLE_CHARS = 80;

/** What is longer ends in `…`. */
export const titleOf = (input: string | Content[] | undefined): string => {
  const text =
    typeof input === "string" ? input : (input ?? []).map((c) => (c.type === "text" ? c.text : "")).join(" ");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1)}…` : line;
};

/** Where the counters of an agent stood when a run began. */
interface Counts {
  rounds: number;
  denials: number;
  usageByModel: Record<string, Usage>;
  cacheBreaks: CacheBreaks;
  /** The goal that had ended last. */
  goal: number;
  modelCalls: ModelCalls;
}

export function countsOf(taken: Taken): Counts {
  const { rounds, denials, usageByModel } = taken.agent.turn.state;
  return {
    rounds,
    denials: denials.length,
    usageByModel: { ...usageByModel },
    cacheBreaks: cacheBreaksIn(cacheState(taken), [LEAD]),
    goal: lastEnded(taken.agent.turn),
    modelCalls: { ...taken.agent.modelCalls },
  };
}

const cacheState = ({ agent }: Taken): PromptCacheState | undefined => agent.turn.slice("prompt-cache");

interface Ended {
  context: string;
  taken: Taken;
  reason: TurnEndReason | undefined;
  before: Counts;
  durationMs: number;
}

export function resultOf({ context, taken, reason, before, durationMs }: Ended): RunResult {
  const { agents } = contextState(taken.ledger);
  const agent = agents[LEAD]!;
  const usageByModel = sumByModel(Object.values(agents).map((one) => one.usageByModel));
  const budget = reason === "limit" ? budgetReached(taken.agent.turn) : undefined;
  const costs = Object.entries(usageByModel).map(([model, usage]) => costUsd(model, usage));
  const last = agent.lastTurn;
  const { ms, aborted } = taken.agent.modelCalls;
  const limit = reason === "limit" && budget === undefined ? last?.limit : undefined;
  const rounds = agent.rounds - before.rounds;
  const goal = goalResult(taken.agent.turn, before.goal);
  const met = aborted > before.modelCalls.aborted ? "model" : rounds > 0 ? "tools" : undefined;
  return {
    context,
    reason: reason ?? "done",
    text: last?.text ?? "",
    ...(last?.error === undefined ? {} : { error: last.error }),
    rounds,
    usage: Object.values(usageByModel).reduce(addUsage, noUsage()),
    usageByModel,
    cacheBreaks: cacheBreaksIn(cacheState(taken)),
    turnCacheBreaks: breaksSince(before.cacheBreaks, cacheBreaksIn(cacheState(taken), [LEAD])),
    turnUsageByModel: usedSince(before.usageByModel, agent.usageByModel),
    modelMs: Math.round(ms - before.modelCalls.ms),
    ...(budget === undefined ? {} : { budget }),
    ...(limit === undefined ? {} : { limit }),
    ...(reason === "interrupted" && met ? { interruptedIn: met } : {}),
    ...(goal && { goal }),
    costUsd: costs.every((c) => c !== undefined) ? costs.reduce((sum, c) => sum + c, 0) : undefined,
    denials: agent.denials.slice(before.denials),
    durationMs,
  };
}

/** Drives a run, also by what comes by itself; each turn that ends is a result. */
export async function driveRun(
  { context, taken }: { context: string; taken: Taken },
  { onResult, ...how }: Pick<Drive, "wait" | "goesOn" | "signal"> & { onResult: (result: RunResult) => void },
): Promise<void> {
  let before = countsOf(taken);
  await drive(taken.agent, {
    ...how,
    takes: "everything",
    onTurn(reason, startedAt) {
      onResult(resultOf({ context, taken, reason, before, durationMs: Date.now() - startedAt }));
      before = countsOf(taken);
    },
  });
}

function usedSince(before: Record<string, Usage>, now: Record<string, Usage>): Record<string, Usage> {
  const used: Record<string, Usage> = {};
  for (const [model, usage] of Object.entries(now)) {
    const then = own(before, model);
    if (then !== usage) used[model] = then ? subtractUsage(usage, then) : usage;
  }
  return used;
}

function sumByModel(all: Record<string, Usage>[]): Record<string, Usage> {
  const sum: Record<string, Usage> = {};
  for (const one of all)
    for (const [model, usage] of Object.entries(one)) sum[model] = addUsage(own(sum, model) ?? noUsage(), usage);
  return sum;
}
