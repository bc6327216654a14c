// Cron expressions: the next due time after an instant, in a zone. croner does the arithmetic, imported on first use.
import { HoldfastError, messageOf } from "../../ledger/error.ts";

/** Strictly after `at`, in milliseconds; undefined when there is none. */
export type NextAfter = (at: number) => number | undefined;

const compiled = new Map<string, NextAfter>();
const KEPT = 200;

/**
 * Contract: throws `invalid` with the reason. A fixed time that does not exist that day is due at the next valid moment, one
 * that exists twice the first time only; hours and minutes by wildcard follow the clock as it runs.
 */
export async function compile(expression: string, zone: string): Promise<NextAfter> {
  const key = `${zone} ${expression}`;
  const known = compiled.get(key);
  if (known) return known;
  const { Cron } = await import("croner");
  try {
    const cron = new Cron(expression, { timezone: zone, paused: true });
    const next: NextAfter = (at) => cron.nextRun(new Date(at))?.getTime();
    next(0);
    if (compiled.size >= KEPT) compiled.clear();
    compiled.set(key, next);
    return next;
  } catch (error) {
    const reason = messageOf(error).replace(/^Cron\w+: /, "");
    throw new HoldfastError("invalid", `the cron expression "${expression}" is not valid: ${reason}`);
  }
}
