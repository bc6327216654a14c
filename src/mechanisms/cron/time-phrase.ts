// What a phrase can say about time, in whichever language, and how that becomes a moment or a cron expression.
import { instantOf, isDate, showTime, type Wall, wallOf, weekdayOf } from "./zone.ts";

export interface Clock {
  hour: number;
  minute: number;
}

export type Day =
  | { kind: "offset"; days: number }
  /** `soonest`: today counts while its time is ahead; `later`: not today; `next week`: in the week that begins on Monday. */
  | { kind: "weekday"; weekday: number; which: "soonest" | "later" | "next week" }
  | { kind: "date"; year?: number; month?: number; day: number };

export type TimePhrase =
  | { kind: "after"; days: number; seconds: number }
  | { kind: "moment"; time: Clock; day?: Day }
  | { kind: "repeat"; expression: string }
  | { kind: "unclear"; problem: string };

export type When = { kind: "once"; at: number } | { kind: "cron"; expression: string };

export const unclear = (problem: string): TimePhrase => ({ kind: "unclear", problem });

const isClock = ({ hour, minute }: Clock): boolean => hour < 24 && minute < 60;

/** `minute hour` of a cron expression. Contract: whatever the time is; `resolve` and cron refuse one that is none. */
export const daily = ({ hour, minute }: Clock, days = "* * *"): TimePhrase =>
  isClock({ hour, minute })
    ? { kind: "repeat", expression: `${minute} ${hour} ${days}` }
    : unclear(`${hour}:${String(minute).padStart(2, "0")} is no time of day`);

/** Every `n` minutes or hours, where the clock divides evenly by it. */
export function everyN(n: number, unit: "minute" | "hour" | "day"): TimePhrase {
  const whole = { minute: 60, hour: 24, day: 1 }[unit];
  if (n === 1 && unit === "minute") return { kind: "repeat", expression: "* * * * *" };
  if (n === 1 && unit === "hour") return { kind: "repeat", expression: "0 * * * *" };
  if (unit === "minute" && n === 60) return { kind: "repeat", expression: "0 * * * *" };
  if (n < 1 || whole % n !== 0 || n >= whole)
    return unclear(`every ${n} ${unit}s does not divide ${unit === "minute" ? "an hour" : "a day"} evenly`);
  return { kind: "repeat", expression: unit === "minute" ? `*/${n} * * * *` : `0 */${n} * * *` };
}

export function resolve(said: TimePhrase, at: { now: number; zone: string }): When | { problem: string } {
  if (said.kind === "unclear") return { problem: said.problem };
  if (said.kind === "repeat") return { kind: "cron", expression: said.expression };
  if (said.kind === "after") return after(said, at);
  if (!isClock(said.time))
    return { problem: `${said.time.hour}:${String(said.time.minute).padStart(2, "0")} is no time of day` };
  return moment(said.time, said.day, at);
}

/** Days keep the time on the wall; hours and less are counted. */
function after(said: { days: number; seconds: number }, { now, zone }: { now: number; zone: string }) {
  const wall = wallOf(now, zone);
  const start = said.days === 0 ? now : instantOf({ ...wall, day: wall.day + said.days }, zone) + (now % 1000);
  const due = start + said.seconds * 1000;
  if (due <= now) return { problem: "that is now: do it instead" };
  return { kind: "once" as const, at: due };
}

function moment(time: Clock, day: Day | undefined, { now, zone }: { now: number; zone: string }) {
  const today = wallOf(now, zone);
  const at = (date: Partial<Wall>) => instantOf({ ...today, ...date, ...time, second: 0 }, zone);
  const inDays = (days: number) => at({ day: today.day + days });
  const once = (due: number) =>
    due > now ? { kind: "once" as const, at: due } : { problem: `${showTime(due, zone)} has passed` };
  if (!day) return once(inDays(0) > now ? inDays(0) : inDays(1));
  if (day.kind === "offset") return once(inDays(day.days));
  if (day.kind === "weekday") {
    const ahead = (day.weekday - weekdayOf(today) + 7) % 7;
    if (day.which === "next week") return once(inDays(7 - ((weekdayOf(today) + 6) % 7) + ((day.weekday + 6) % 7)));
    const tooSoon = ahead === 0 && (day.which === "later" || inDays(0) <= now);
    return once(inDays(tooSoon ? 7 : ahead));
  }
  return onDate(day, { today, at, once, now });
}

interface Calendar {
  today: Wall;
  now: number;
  at: (date: Partial<Wall>) => number;
  once: (due: number) => When | { problem: string };
}

/** Without its year or month a date is the next one of that name that exists. */
function onDate(day: Extract<Day, { kind: "date" }>, { today, at, once, now }: Calendar) {
  if (day.year !== undefined) {
    const { year, month = today.month } = day;
    if (!isDate(year, month, day.day)) return { problem: `${year}-${month}-${day.day} is no date` };
    return once(at({ year, month, day: day.day }));
  }
  for (let ahead = 0; ahead <= 12 * 8; ahead++) {
    const month = ((today.month - 1 + ahead) % 12) + 1;
    const year = today.year + Math.floor((today.month - 1 + ahead) / 12);
    if (day.month !== undefined && day.month !== month) continue;
    if (!isDate(year, month, day.day)) continue;
    const due = at({ year, month, day: day.day });
    if (due > now) return once(due);
  }
  return { problem: `${day.month === undefined ? "" : `month ${day.month} `}day ${day.day} is no date` };
}
