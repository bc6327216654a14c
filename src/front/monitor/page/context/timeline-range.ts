// The part of time that a timeline shows: zoomed around a point, moved, never beyond what there is; and its ticks.

export interface Range {
  from: number;
  to: number;
}

/** Closer than this nothing more can be told apart: clocks count milliseconds. */
const SHORTEST_MS = 200;

export const lengthOf = ({ from, to }: Range): number => to - from;

/** Contract: inside `all`, at least the shortest long. */
export function within(range: Range, all: Range): Range {
  const length = Math.max(SHORTEST_MS, Math.min(lengthOf(range), Math.max(SHORTEST_MS, lengthOf(all))));
  const from = Math.max(all.from, Math.min(range.from, Math.max(all.from, all.to - length)));
  return { from, to: from + length };
}

/** `factor` below 1 looks closer; the moment `at` stays where it is. */
export function zoomed(range: Range, { factor, at, all }: { factor: number; at: number; all: Range }): Range {
  const length = Math.max(SHORTEST_MS, lengthOf(range) * factor);
  const share = (at - range.from) / Math.max(1, lengthOf(range));
  const from = at - share * length;
  return within({ from, to: from + length }, all);
}

export const moved = (range: Range, by: number, all: Range): Range =>
  within({ from: range.from + by, to: range.to + by }, all);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [
  ...[50, 100, 250, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE],
  ...[10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR],
];

export interface Tick {
  at: number;
  says: string;
}

/** At most `most`, at round times of the reader's own day. */
export function ticks({ from, to }: Range, most: number): Tick[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? STEPS.at(-1)!;
  const zone = new Date(from).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((from - zone) / step) * step + zone;
  const found: Tick[] = [];
  for (let at = first; at <= to && found.length < 200; at += step) found.push({ at, says: tickSays(at, step) });
  return found;
}

const two = (n: number): string => String(n).padStart(2, "0");

function tickSays(at: number, step: number): string {
  const date = new Date(at);
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  if (step >= 24 * HOUR) return day;
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step >= MINUTE) return minutes === "00:00" ? day : minutes;
  const seconds = `${minutes}:${two(date.getSeconds())}`;
  return step >= SECOND ? seconds : `${seconds}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
