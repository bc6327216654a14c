// The decision of a firing: which due times have come, which of them are said and which passed over, and what is due next. Pure.

import type { Schedule, ScheduleState } from "./events.ts";
import type { NextAfter } from "./expression.ts";

/** Later than this, a due time was missed: nobody was there, or the clock jumped. */
export const GRACE_MS = 120_000;
/** Of missed due times with policy `all`, the last so many are said. */
export const MOST_AT_ONCE = 10;
const MOST_COUNTED = 500;
const WINDOWS_MS = [3_600_000, 86_400_000, 32 * 86_400_000, 367 * 86_400_000];

export interface FiringOutcome {
  /** Due times to be said, in order; none: passed over. */
  say: number[];
  /** How many were passed over; at least so many, when there were too many to count. */
  skipped: number;
  /** The last due time that has come. */
  last: number;
  next: number | null;
}

/** Contract: the same for the same schedule on every host and after every restart; below `jitterMs`. */
export function jitterOf(schedule: Pick<Schedule, "scheduleId" | "jitterMs">): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < schedule.scheduleId.length; i++) {
    hash = Math.imul(hash ^ schedule.scheduleId.charCodeAt(i), 16_777_619) >>> 0;
  }
  return schedule.jitterMs === 0 ? 0 : hash % schedule.jitterMs;
}

export const firesAt = (schedule: Schedule & { next: number }): number => schedule.next + jitterOf(schedule);

/** The due time after `at` that expiry allows. */
function dueAfter(schedule: Pick<Schedule, "expiresAt">, nextAfter: NextAfter | undefined, at: number) {
  const next = nextAfter?.(at);
  return next === undefined || next > (schedule.expiresAt ?? Number.POSITIVE_INFINITY) ? null : next;
}

/**
 * Contract: undefined when nothing has come. A due time is decided once: it is said or counted as passed over, and `next` is the
 * first one that has not come yet, so that a clock that goes back brings none of them again.
 */
export function decideFiring(
  schedule: ScheduleState,
  nextAfter: NextAfter | undefined,
  now: number,
): FiringOutcome | undefined {
  const jitter = jitterOf(schedule);
  const reached = now - jitter;
  if (schedule.next > reached) return undefined;
  const come = [schedule.next];
  let last = schedule.next;
  const take = (due: number) => {
    come.push(due);
    last = due;
  };
  let next = dueAfter(schedule, nextAfter, last);
  while (next !== null && next <= reached && come.length < MOST_COUNTED) {
    take(next);
    next = dueAfter(schedule, nextAfter, next);
  }
  if (nextAfter && next !== null && next <= reached) {
    for (const due of lastOf(schedule, nextAfter, next, reached)) take(due);
    next = dueAfter(schedule, nextAfter, last);
  }
  const most = schedule.missed === "all" ? MOST_AT_ONCE : 1;
  const tooLate = schedule.missed === "skip" && now - (last + jitter) > GRACE_MS;
  const say = tooLate ? [] : come.slice(-most);
  return { say, skipped: come.length - say.length, last, next };
}

/** The last due times up to `reached`, without walking through all before them. */
function lastOf(schedule: ScheduleState, nextAfter: NextAfter, from: number, reached: number): number[] {
  const end = Math.min(reached, schedule.expiresAt ?? reached);
  for (const window of WINDOWS_MS) {
    const found: number[] = [];
    for (let due = nextAfter(Math.max(from - 1, end - window)); due !== undefined && due <= end; due = nextAfter(due)) {
      found.push(due);
    }
    if (found.length > 0) return found.slice(-MOST_AT_ONCE);
  }
  return [from];
}
