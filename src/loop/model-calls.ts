// How long an agent's model calls take, in this process.
import { monotonicMs } from "../ledger/holder.ts";

export interface ModelCalls {
  /** All together; what lies between two attempts does not count. */
  ms: number;
  /** How many an interrupt cut off. */
  aborted: number;
}

export async function timed<T>(calls: ModelCalls, call: () => Promise<T>): Promise<T> {
  const since = monotonicMs();
  try {
    return await call();
  } finally {
    calls.ms += monotonicMs() - since;
  }
}
