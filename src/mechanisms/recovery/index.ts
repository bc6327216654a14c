// Recovery: a model call that fails is made again, elsewhere or smaller; a reply that was cut off goes on. Every retry is a fact.
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { type Model, ModelError } from "../../models/model.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import { freshTurn, type RecoveryState, recoveryEvents, recoverySlice, type TurnRecovery } from "./events.ts";
import { callModel, type RetryPolicy } from "./model-call.ts";
import { tellFailure } from "./model-hooks.ts";

export interface RecoveryOptions {
  /** Opened only when the models before them stay overloaded or rate-limited. */
  fallbacks?: (() => Promise<Model>)[];
  backoff?: Partial<Backoff>;
  /** Attempts with one model. */
  maxAttempts?: number;
}

/** With one model, unless the harness says otherwise. */
export const MAX_ATTEMPTS = 8;

const MAX_CONTINUATIONS = 3;
const CONTINUE =
  "Your reply was cut off by the output limit. Continue exactly where you stopped, in the middle of the sentence if need be: no apology, no repetition, no summary of what you already wrote.";

export function createRecovery(opts: RecoveryOptions = {}): Mechanism {
  const policy: RetryPolicy = {
    backoff: createBackoff(opts.backoff),
    maxAttempts: opts.maxAttempts ?? MAX_ATTEMPTS,
    patience: 3,
    retryAfterCapMs: 30_000,
    longestWaitMs: 10 * 60_000,
    fallbacks: (opts.fallbacks ?? []).map(once),
  };
  const told = async (error: ModelError, turn: Turn): Promise<ModelError> => {
    await tellFailure(error, turn);
    return error;
  };
  return defineMechanism({
    name: "recovery",
    carry: nothing,
    settings: () => ({ fallbacks: policy.fallbacks.length, maxAttempts: policy.maxAttempts }),
    decides: ["model.retried", "model.switched", "model.escalated"],
    events: recoveryEvents,
    fold: recoverySlice,
    seams: {
      async model(call, next) {
        try {
          return await callModel(call, next, policy, pastOf(call.turn));
        } catch (error) {
          await tellFailure(error, call.turn);
          throw error;
        }
      },
      async stop(turn, reply) {
        if (reply.finish === "refused") throw await told(refused(reply.model), turn);
        if (reply.finish !== "length" || reply.parts.some((part) => part.type === "call")) return [];
        const count = pastOf(turn).continuations + 1;
        if (count > MAX_CONTINUATIONS) throw await told(cutOff(reply.model), turn);
        return [{ origin: "recovery", text: CONTINUE, events: [{ type: "model.continued", data: { count } }] }];
      },
    },
  });
}

const refused = (model: string): ModelError =>
  new ModelError(
    "refused",
    `${model} will not answer this (the model refused, or a filter of its provider stopped it): say it in another way, or take another model with --model`,
  );

const cutOff = (model: string): ModelError =>
  new ModelError(
    "length",
    `the answer of ${model} reached its output limit ${MAX_CONTINUATIONS + 1} times and is not whole: ask for less at once, or take a model with a larger output`,
  );

const pastOf = (turn: Turn): TurnRecovery => turn.slice<RecoveryState>("recovery")[turn.agent] ?? freshTurn();

function once(open: () => Promise<Model>): () => Promise<Model> {
  let opened: Promise<Model> | undefined;
  return () => {
    opened ??= open().catch((error) => {
      opened = undefined; // a key may be set later
      throw error;
    });
    return opened;
  };
}
