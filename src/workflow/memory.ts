// The memory of this process while phases run: the highest that was seen.

const EVERY_MS = 50;

interface MemoryWatch {
  /** Bytes; ends the watch. */
  end(): number;
}

export interface MemoryMeter {
  watch(): MemoryWatch;
}

/** One timer for all phases, and none while nothing runs. */
export function createMemoryMeter(rss: () => number = process.memoryUsage.rss): MemoryMeter {
  const peaks = new Set<{ bytes: number }>();
  let timer: NodeJS.Timeout | undefined;
  const sample = (): void => {
    const bytes = rss();
    for (const peak of peaks) peak.bytes = Math.max(peak.bytes, bytes);
  };
  return {
    watch() {
      const peak = { bytes: rss() };
      peaks.add(peak);
      timer ??= setInterval(sample, EVERY_MS).unref();
      return {
        end() {
          sample();
          peaks.delete(peak);
          if (peaks.size === 0 && timer) {
            clearInterval(timer);
            timer = undefined;
          }
          return peak.bytes;
        },
      };
    },
  };
}
