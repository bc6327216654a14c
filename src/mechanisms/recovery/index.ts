// Owns recovery: a model call that fails is made again, elsewhere or smaller; a reply that was cut off goes on. Every retry is a fact.
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { type Model, ModelError } from "../../models/model.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import { freshTurn, type RecoveryState, recoveryEvents, recoverySlice, type TurnRecovery } from "./events.ts";
import { callModel, type Policy } from "./model-call.ts";

export interface RecoveryOptions {
  /** Opened only when the models before them stay overloaded or rate-limited. */
  fallbacks?: (() => Promise<Model>)[];
  backoff?: Partial<Backoff>;
  /** Attempts with one model. */
  maxAttempts?: number;
}

const MAX_CONTINUATIONS = 3;
const CONTINUE =
  "Your reply was cut off by the output limit. Continue exactly where you stopped, in the middle of the sentence if need be: no apology, no repetition, no summary of what you already wrote.";

export function createRecovery(opts: RecoveryOptions = {}): Mechanism {
  const policy: Policy = {
    backoff: createBackoff(opts.backoff),
    maxAttempts: opts.maxAttempts ?? 8,
    patience: 3,
    retryAfterCapMs: 30_000,
    longestWaitMs: 10 * 60_000,
    fallbacks: (opts.fallbacks ?? []).map(once),
  };
  return defineMechanism({
    name: "recovery",
    events: recoveryEvents,
    fold: recoverySlice,
    seams: {
      model: (call, next) => callModel(call, next, policy, pastOf(call.turn)),
      stop(turn, reply) {
        if (reply.finish === "refused") throw refused(reply.model);
        if (reply.finish !== "length" || reply.parts.some((part) => part.type === "call")) return [];
        const count = pastOf(turn).continuations + 1;
        if (count > MAX_CONTINUATIONS) return [];
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
