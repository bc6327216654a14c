// A clock that only moves when a test says so, and a house whose schedules live by it.
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { CronClock, CronOptions } from "../../src/mechanisms/cron/index.ts";

export interface FakeClock extends CronClock {
  /** Time passes: the wall clock and the timers. */
  pass(ms: number): Promise<void>;
  /** The wall clock is set, or the machine slept: timers know nothing of it. */
  jump(ms: number): void;
  /** Every sleep that was asked for. */
  readonly sleeps: number[];
  /** How many sleep now. */
  sleeping(): number;
}

export function fakeClock(start: number): FakeClock {
  let wall = start;
  let running = 0;
  const sleeps: number[] = [];
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => wall,
    sleeps,
    sleeping: () => sleepers.size,
    sleep(ms, signal) {
      sleeps.push(ms);
      return new Promise<void>((resolve) => {
        const one = {
          until: running + ms,
          wake: () => {
            sleepers.delete(one);
            resolve();
          },
        };
        sleepers.add(one);
        if (signal.aborted) one.wake();
        else signal.addEventListener("abort", one.wake, { once: true });
      });
    },
    async pass(ms) {
      const end = running + ms;
      for (;;) {
        await settled();
        const next = Math.min(end, ...[...sleepers].map((s) => s.until));
        wall += next - running;
        running = next;
        for (const s of [...sleepers]) if (s.until <= running) s.wake();
        await settled();
        if (running >= end) return;
      }
    },
    jump(ms) {
      wall += ms;
    },
  };
}

/** What waits in the queue of promises and of the event loop has run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The house's own schedules where it has them, or the mechanism beside it. */
export const withCron = (opts: CronOptions): Partial<HarnessOptions> => ({ cron: opts });
