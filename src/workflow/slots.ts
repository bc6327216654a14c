// Owns bounded concurrency: so many at one time, the others in the order they came.

export type Slots = <T>(work: () => Promise<T>) => Promise<T>;

export function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
