// Civil time: what the clock on the wall of a zone says, and which instant a wall time is. Gaps and overlaps are decided here.

export interface Wall {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

const DAY_MS = 86_400_000;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const digits = "numeric" as const;
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: digits,
      month: digits,
      day: digits,
      hour: digits,
      minute: digits,
      second: digits,
    });
    formats.set(zone, format);
  }
  return format;
}

export const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone as the system spells it; undefined when it knows none of that name. */
export function knownZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name.trim() }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

export function wallOf(at: number, zone: string): Wall {
  const wall: Wall = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of formatOf(zone).formatToParts(at)) if (isPart(type)) wall[type] = Number(value);
  return wall;
}

const PARTS: readonly string[] = ["year", "month", "day", "hour", "minute", "second"] satisfies (keyof Wall)[];
const isPart = (type: string): type is keyof Wall => PARTS.includes(type);

export const asUtc = (w: Wall): number => Date.UTC(w.year, w.month - 1, w.day, w.hour, w.minute, w.second);

/** Milliseconds that the zone's wall clock is ahead of UTC. */
const offsetAt = (at: number, zone: string): number => asUtc(wallOf(at, zone)) - Math.floor(at / 1000) * 1000;

/**
 * Contract: a wall time that exists twice is its first instant; one that does not exist is the moment at which the clock
 * jumps over it. Days and months beyond their end roll over.
 */
export function instantOf(wall: Wall, zone: string): number {
  const utc = asUtc(wall);
  const before = offsetAt(utc - DAY_MS, zone);
  const after = offsetAt(utc + DAY_MS, zone);
  const fitting = [utc - before, utc - after].filter((at) => offsetAt(at, zone) === utc - at);
  if (fitting.length > 0) return Math.min(...fitting);
  let low = utc - DAY_MS;
  let high = utc + DAY_MS;
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (offsetAt(middle, zone) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** 0 is Sunday. */
export const weekdayOf = (w: Pick<Wall, "year" | "month" | "day">): number =>
  new Date(Date.UTC(w.year, w.month - 1, w.day)).getUTCDay();

/** Whether a calendar has that day: no 30th of February. */
export function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** `Mon 2026-11-16 15:30 Europe/Berlin (2026-11-16T14:30:00Z)`: local time, zone, UTC where that is another. */
export function showTime(at: number, zone: string): string {
  const w = wallOf(at, zone);
  const time = `${two(w.hour)}:${two(w.minute)}${w.second === 0 ? "" : `:${two(w.second)}`}`;
  const utc = /^(?:Etc\/)?UTC$/.test(zone) ? "" : ` (${new Date(at).toISOString().slice(0, 19)}Z)`;
  return `${WEEKDAYS[weekdayOf(w)]} ${w.year}-${two(w.month)}-${two(w.day)} ${time} ${zone}${utc}`;
}

/** For people: each time once, as the clock on the wall shows it. */
export const onlyLocal = (text: string): string => text.replace(/ \(\d{4}-\d\d-\d\dT[\d:]{8}Z\)/g, "");
