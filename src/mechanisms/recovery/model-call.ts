// One model call that does not give up at the first failure: retry, fallback, escalation, overflow.
import { messageOf } from "../../ledger/error.ts";
import type { ModelCall } from "../../loop/seams.ts";
import {
  addUsage,
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelRequest,
  noUsage,
  type Reply,
} from "../../models/model.ts";
import { type Backoff, delayFor } from "./backoff.ts";
import type { TurnRecovery } from "./events.ts";
import { tellSwitch } from "./model-hooks.ts";

export interface RetryPolicy {
  backoff: Backoff;
  maxAttempts: number;
  /** Overloads or rate limits in a row before the next model is tried, where there is one. */
  patience: number;
  /** A fallback waits for no one longer than this. */
  retryAfterCapMs: number;
  /** Longer than this nobody waits: the turn ends and says when to come back. */
  longestWaitMs: number;
  fallbacks: (() => Promise<Model>)[];
}

/** A try that makes nothing smaller is repeated once at most. */
const MAX_FUTILE = 2;

type Next = (call: ModelCall) => Promise<Reply>;

const RETRIED = new Set<ModelErrorKind>(["rate_limit", "overloaded", "server", "network", "stalled", "cut"]);

/** The state of one call: which model, which request, and what failed so far. */
interface Progress {
  model: Model;
  fallback: number;
  request: ModelRequest;
  /** Failures of the current model. */
  attempt: number;
  attemptsInAll: number;
  /** Failures of one kind in a row. */
  streak: { kind?: ModelErrorKind; length: number };
  /** How often the prompt was too long for a model. */
  overflows: number;
  /** Tries in a row to leave something out after which the request was no smaller. */
  futile: number;
  escalated: boolean;
  tried: string[];
}

export async function callModel(call: ModelCall, next: Next, policy: RetryPolicy, past: TurnRecovery): Promise<Reply> {
  const now: Progress = await begin(call, policy, past);
  let spent = noUsage();
  for (;;) {
    let reply: Reply;
    try {
      reply = await next({ ...call, model: now.model, request: now.request });
    } catch (error) {
      await afterFailure(call, policy, now, error);
      continue;
    }
    const limit = now.model.limits.outputTokens;
    if (reply.finish !== "length" || now.escalated || now.request.maxOutputTokens >= limit) {
      return { ...reply, usage: addUsage(spent, reply.usage) };
    }
    spent = addUsage(spent, reply.usage); // the cut reply is not shown, but it was paid for
    await escalate(call, now, limit);
  }
}

async function begin(call: ModelCall, policy: RetryPolicy, past: TurnRecovery): Promise<Progress> {
  const open = past.fallback > 0 ? policy.fallbacks[past.fallback - 1] : undefined;
  const model = open ? await open() : call.model;
  const wanted = past.maxOutputTokens ?? call.request.maxOutputTokens;
  return {
    model,
    fallback: open ? past.fallback : 0,
    request: limited(call.request, Math.min(wanted, model.limits.outputTokens)),
    attempt: 0,
    attemptsInAll: 0,
    streak: { length: 0 },
    overflows: 0,
    futile: 0,
    escalated: past.maxOutputTokens !== undefined,
    tried: [model.id],
  };
}

async function escalate(call: ModelCall, now: Progress, to: number): Promise<void> {
  const from = now.request.maxOutputTokens;
  now.escalated = true;
  now.request = limited(now.request, to);
  await call.turn.append([{ type: "model.escalated", data: { model: now.model.id, from, to } }]);
  call.turn.emit({ type: "status", text: `the reply reached ${from} tokens: asking again with ${to}`, recorded: true });
  call.turn.emit({ type: "delta", delta: { type: "reset" } });
}

/** Returns when the call shall be made again; throws when it shall not. */
async function afterFailure(call: ModelCall, policy: RetryPolicy, now: Progress, error: unknown): Promise<void> {
  if (!(error instanceof ModelError) || error.kind === "aborted") throw error;
  if (call.signal.aborted) throw interrupted(now.model, error);
  now.attemptsInAll++;
  if (error.kind === "overflow") return shrink(call, now, error);
  now.attempt++;
  if (!RETRIED.has(error.kind)) throw error;
  now.streak = { kind: error.kind, length: now.streak.kind === error.kind ? now.streak.length + 1 : 1 };
  if (await switched(call, policy, now, error)) return;
  if (now.attempt >= policy.maxAttempts) throw givenUp(now, error);
  await retry(call, policy, now, error);
}

/** As often as it helps: what did not fit is no failure of the model, and there is an end of what can be left out. */
async function shrink(call: ModelCall, now: Progress, error: ModelError): Promise<void> {
  now.overflows++;
  if (now.futile >= MAX_FUTILE) throw doesNotFit(now, error, "and leaving things out does not make it smaller");
  const smaller = await call.shrink();
  if (!smaller) throw doesNotFit(now, error, "and nothing more can be left out");
  now.futile = sizeOf(smaller) < sizeOf(now.request) ? 0 : now.futile + 1;
  now.request = limited(smaller, now.request.maxOutputTokens);
  await recordRetry(call, now, error, { attempt: now.overflows, delayMs: 0 });
}

function doesNotFit({ model }: Progress, error: ModelError, how: string): ModelError {
  const advice = "start a new context, or use a model with a larger window";
  const { contextTokens, isAssumed } = model.limits;
  const size = isAssumed ? "how much it reads at once is not known" : `${contextTokens} tokens`;
  const message = `the conversation does not fit ${model.id} (${size}), ${how}: ${advice}`;
  return new ModelError("overflow", message, { status: error.status, cause: error });
}

const sizeOf = ({ system, items }: ModelRequest): number => JSON.stringify([system, items]).length;

async function retry(call: ModelCall, policy: RetryPolicy, now: Progress, error: ModelError): Promise<void> {
  const delayMs = waitFor(policy, now, error);
  if (delayMs > policy.longestWaitMs) throw tooLong(now, error, delayMs);
  await recordRetry(call, now, error, { attempt: now.attempt, delayMs });
  await policy.backoff.sleep(delayMs, call.signal);
  if (call.signal.aborted) throw interrupted(now.model, error);
}

function waitFor(policy: RetryPolicy, now: Progress, error: ModelError): number {
  const own = delayFor(policy.backoff, now.attempt);
  if (error.retryAfterMs === undefined) return own;
  const hasFallback = now.fallback < policy.fallbacks.length;
  return Math.max(own, hasFallback ? Math.min(error.retryAfterMs, policy.retryAfterCapMs) : error.retryAfterMs);
}

async function recordRetry(
  call: ModelCall,
  now: Progress,
  error: ModelError,
  { attempt, delayMs }: { attempt: number; delayMs: number },
): Promise<void> {
  const { kind, status, message } = error;
  const data = { kind, attempt, delayMs, ...(status ? { status } : {}), model: now.model.id, message };
  await call.turn.append([{ type: "model.retried", data }]);
  const wait = delayMs >= 1000 ? ` in ${Math.round(delayMs / 1000)} s` : "";
  const text = `${message}; asking again${wait} (attempt ${attempt + 1})`;
  call.turn.emit({ type: "status", text, recorded: true });
  call.turn.emit({ type: "delta", delta: { type: "reset" } });
}

/** True when the next model took over. One that cannot be opened is said and passed over. */
async function switched(call: ModelCall, policy: RetryPolicy, now: Progress, error: ModelError): Promise<boolean> {
  const impatient = error.kind === "overloaded" || error.kind === "rate_limit";
  if (now.attempt < policy.maxAttempts && !(impatient && now.streak.length >= policy.patience)) return false;
  for (let open = policy.fallbacks[now.fallback]; open !== undefined; open = policy.fallbacks[now.fallback]) {
    now.fallback++;
    let model: Model;
    try {
      model = await open();
    } catch (problem) {
      call.turn.emit({ type: "status", text: `fallback ${now.fallback} cannot be used: ${messageOf(problem)}` });
      continue;
    }
    const data = { from: now.model.id, to: model.id, reason: error.message, fallback: now.fallback };
    await call.turn.append([{ type: "model.switched", data }]);
    call.turn.emit({ type: "status", text: `${error.message}; going on with ${model.id}`, recorded: true });
    call.turn.emit({ type: "delta", delta: { type: "reset" } });
    await tellSwitch(now.model.id, model.id, call.turn);
    now.model = model;
    now.tried.push(model.id);
    now.attempt = 0;
    now.streak = { length: 0 };
    now.request = limited(now.request, Math.min(now.request.maxOutputTokens, model.limits.outputTokens));
    return true;
  }
  return false;
}

function givenUp(now: Progress, error: ModelError): ModelError {
  const models = now.tried.length > 1 ? ` on ${now.tried.join(", ")}` : "";
  const advice =
    now.tried.length > 1 ? "try again later" : "try again later, or name another model with --fallback-model";
  return again(error, `gave up after ${now.attemptsInAll} attempts${models}: ${error.message}; ${advice}`);
}

function tooLong(now: Progress, error: ModelError, delayMs: number): ModelError {
  const minutes = Math.ceil(delayMs / 60_000);
  return again(
    error,
    `${error.message}; ${now.model.id} takes requests again in ${minutes} min: resume then, or use another model`,
  );
}

const again = (error: ModelError, message: string) =>
  new ModelError(error.kind, message, { status: error.status, retryAfterMs: error.retryAfterMs, cause: error });

const interrupted = (model: Model, cause: ModelError) =>
  new ModelError("aborted", `${model.id}: the model call was interrupted`, { partial: cause.partial, cause });

const limited = (request: ModelRequest, maxOutputTokens: number): ModelRequest =>
  request.maxOutputTokens === maxOutputTokens ? request : { ...request, maxOutputTokens };
