// The numbers behind a chart, without a browser: round marks on an axis, where a value is drawn, which point is the nearest, what holds at one.
import { lengthOf, type Range, type Tick, ticks } from "../timeline-range.ts";
import type { ChartLine } from "./chart-data.ts";

/** Round numbers in a range, at most about so many; never closer than what can be told apart in writing. */
export function roundMarks({ from, to }: Range, { most, least }: { most: number; least: number }): number[] {
  const rough = Math.max((to - from) / most, least);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((times) => times * power >= rough) ?? 10);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step + 1e-9) - first + 1) }, (_, i) => (first + i) * step);
}

/** What charts beside each other share: where their points are from left to right. */
export interface Across {
  /** Growing. */
  points: readonly number[];
  ticks(range: Range, most: number): Tick[];
  /** The point there, in words. */
  says(place: number): string;
}

export const timeTicks = ticks;

export const eventTicks = (range: Range, most: number): Tick[] =>
  roundMarks(range, { most, least: 1 }).map((at) => ({ at, says: at.toLocaleString("en-US") }));

/** A single point stands in the middle of something. */
export function rangeOf(points: readonly number[]): Range {
  const range = { from: points[0] ?? 0, to: points.at(-1) ?? 0 };
  return lengthOf(range) > 0 ? range : { from: range.from - 1, to: range.to + 1 };
}

/** Contract: a place in `points` where there is any. */
export function nearest(points: readonly number[], wanted: number): number {
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low > 0 && wanted - points[low - 1]! <= points[low]! - wanted ? low - 1 : low;
}

/** The newest point up to there: lines of several agents have gaps. -1: none. */
export const placeUpTo = (values: ChartLine["values"], place: number): number =>
  values.findLastIndex((value, i) => i <= place && value !== null);

export const largestIn = (lines: readonly ChartLine[]): number =>
  lines.reduce((most, { values }) => values.reduce<number>((all, one) => Math.max(all, one ?? 0), most), 0);
