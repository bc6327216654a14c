// Owns how long an agent's model calls take, in this process.

export interface ModelCalls {
  /** All together; what lies between two attempts does not count. */
  ms: number;
  /** How many an interrupt cut off. */
  aborted: number;
}

export async function timed<T>(calls: ModelCalls, call: () => Promise<T>): Promise<T> {
  const since = performance.now();
  try {
    return await call();
  } finally {
    calls.ms += performance.now() - since;
  }
}
