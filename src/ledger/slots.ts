// Bounded concurrency: so many at one time, the others in the order they came.

export interface Slots {
  take(): Promise<void>;
  give(): void;
  /** Takes a place for as long as the work goes on. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let free = most;
  const slots: Slots = {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((go) => waiting.push(go));
    },
    give() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
    async run(work) {
      await slots.take();
      try {
        return await work();
      } finally {
        slots.give();
      }
    },
  };
  return slots;
}
