// How long a retry waits.
import { HoldfastError } from "../../ledger/error.ts";

export interface Backoff {
  baseMs: number;
  capMs: number;
  factor: number;
  random: () => number;
  /** Contract: returns early when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function createBackoff(opts: Partial<Backoff> = {}, env = process.env): Backoff {
  return {
    baseMs: opts.baseMs ?? baseFrom(env.HOLDFAST_RETRY_BASE_MS),
    capMs: opts.capMs ?? 60_000,
    factor: opts.factor ?? 2,
    random: opts.random ?? Math.random,
    sleep: opts.sleep ?? sleepUnlessAborted,
  };
}

/** Full jitter: callers that failed together do not come back together. */
export function delayFor(backoff: Backoff, attempt: number): number {
  const ceiling = Math.min(backoff.capMs, backoff.baseMs * backoff.factor ** (attempt - 1));
  return Math.round(ceiling * backoff.random());
}

function baseFrom(given: string | undefined): number {
  if (given === undefined || given === "") return 1000;
  const ms = Number(given);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  throw new HoldfastError("invalid", `HOLDFAST_RETRY_BASE_MS is "${given}": set a number of milliseconds`);
}

function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
