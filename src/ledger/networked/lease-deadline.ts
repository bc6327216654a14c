// The deadline of a lease by its holder's own clocks: where other machines reach the store, silence is no proof that it still holds.
import { monotonicMs } from "../holder.ts";

/** Of the lease: the holder has to be still before another may begin, also when the two clocks do not run quite alike. */
const MARGIN = 0.1;
/** Looked at at least so often: a machine that slept learns it from the wall clock, which no timer follows. */
const LOOK_MS = 500;

export interface LeaseDeadline {
  leftMs(): number;
  /** A renewal is being sent; the returned function is called when it was heard of. */
  sending(): () => void;
  /** Contract: `past` is called once, when it has passed, unless the returned function was called before. */
  watch(past: () => void): () => void;
}

interface Clocks {
  monotonicMs(): number;
  wallMs(): number;
}

const CLOCKS: Clocks = { monotonicMs, wallMs: () => Date.now() };

/** Begins now: before the lease is asked for. */
export function createLeaseDeadline(leaseMs: number, clocks: Clocks = CLOCKS): LeaseDeadline {
  const now = () => ({ monotonic: clocks.monotonicMs(), wall: clocks.wallMs() });
  let sent = now();
  // Monotonic time stands still while a machine sleeps, wall time may be set back: the larger one counts.
  const elapsedMs = () => Math.max(clocks.monotonicMs() - sent.monotonic, clocks.wallMs() - sent.wall);
  const leftMs = () => leaseMs * (1 - MARGIN) - elapsedMs();
  return {
    leftMs,
    sending() {
      const at = now();
      return () => {
        if (at.monotonic > sent.monotonic) sent = at;
      };
    },
    watch(past) {
      let timer: NodeJS.Timeout | undefined;
      const look = () => {
        const left = leftMs();
        if (left <= 0) return past();
        timer = setTimeout(look, Math.min(Math.max(left, 1), LOOK_MS)).unref();
      };
      timer = setTimeout(look, 0).unref();
      return () => clearTimeout(timer);
    },
  };
}
