// Counting what a rendering costs, against the limits.
import { MAX_LOOPS, MAX_OUTPUT, MAX_STEPS } from "./limits.ts";
import { problem, type Source } from "./source.ts";

export interface Meter {
  /** Characters that may still be written. */
  left(): number;
  step(source: Source, at: number, cost?: number): void;
  write(source: Source, at: number, text: string): string;
  round(source: Source, at: number): void;
  /** Checks a text that was put together from others. */
  fits(source: Source, at: number, text: string): string;
  /** Checks the prompt at the end, in bytes. */
  whole(source: Source, text: string): string;
}

export function createMeter(): Meter {
  let steps = 0;
  let written = 0;
  let rounds = 0;
  const tooLong = (source: Source, at: number): Error =>
    problem(source, at, `the prompt is longer than ${MAX_OUTPUT} bytes`, "Pass large values by reference.", {
      code: "limit",
    });
  return {
    left: () => MAX_OUTPUT - written,
    step(source, at, cost = 1) {
      steps += cost;
      if (steps <= MAX_STEPS) return;
      const advice = "Loop over less or include less.";
      throw problem(source, at, `rendering took more than ${MAX_STEPS} steps`, advice, { code: "limit" });
    },
    write(source, at, text) {
      written += text.length;
      if (written > MAX_OUTPUT) throw tooLong(source, at);
      return text;
    },
    round(source, at) {
      if (++rounds <= MAX_LOOPS) return;
      const what = `the loops took more than ${MAX_LOOPS} rounds together`;
      throw problem(source, at, what, "Loop over less.", { code: "limit" });
    },
    fits(source, at, text) {
      if (text.length > MAX_OUTPUT) throw tooLong(source, at);
      return text;
    },
    whole(source, text) {
      if (Buffer.byteLength(text) > MAX_OUTPUT) throw tooLong(source, 0);
      return text;
    },
  };
}
