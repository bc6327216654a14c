// An agent's model calls in this process: how long they take, and what they have shown.
import { monotonicMs } from "../ledger/holder.ts";
import type { Item } from "../models/model.ts";

export interface ModelCalls {
  /** All together; what lies between two attempts does not count. */
  ms: number;
  /** How many an interrupt cut off. */
  aborted: number;
  /** By its number: the last reply that there was when this process last asked, and when it last got one. */
  asked?: number | undefined;
  received?: number | undefined;
}

export const lastReply = (items: readonly Item[]): number | undefined => {
  const last = items.findLast((item) => item.kind === "reply");
  return last?.kind === "reply" ? last.n : undefined;
};

/** Whether the results of the last reply were in no request: this process got that reply, and has not asked since. */
export function areUnsent({ asked, received }: ModelCalls, items: readonly Item[]): boolean {
  const last = lastReply(items);
  return last !== undefined && received === last && asked !== last;
}

export async function timed<T>(calls: ModelCalls, call: () => Promise<T>): Promise<T> {
  const since = monotonicMs();
  try {
    return await call();
  } finally {
    calls.ms += monotonicMs() - since;
  }
}
