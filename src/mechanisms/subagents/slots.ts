// How many subagents run at once in this process; one that waits for its own gives its place to others meanwhile.
import { createSlots } from "../../ledger/slots.ts";

export interface NestedSlots {
  /** Names are unique in this process. Contract: `by` is who waits for the work, if anyone does: while it waits its own place is free, or two levels would wait for each other. */
  run<T>(name: string, by: string | undefined, work: () => Promise<T>): Promise<T>;
}

export function createNestedSlots(most: number): NestedSlots {
  const { take, give, run } = createSlots(most);
  /** Whoever has a place, and how many it waits for. */
  const waits = new Map<string, number>();

  return {
    async run(name, by, work) {
      const waiter = by !== undefined && waits.has(by) ? by : undefined;
      if (waiter !== undefined) {
        const before = waits.get(waiter)!;
        waits.set(waiter, before + 1);
        if (before === 0) give();
      }
      try {
        return await run(async () => {
          waits.set(name, 0);
          try {
            return await work();
          } finally {
            waits.delete(name);
          }
        });
      } finally {
        if (waiter !== undefined && waits.has(waiter)) {
          const left = waits.get(waiter)! - 1;
          waits.set(waiter, left);
          if (left === 0) await take();
        }
      }
    },
  };
}
