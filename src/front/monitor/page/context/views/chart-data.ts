// The lists of a context's usage as charts draw them: by agent where rounds of several stand between each other, and thinned for a table.
import type { UsageSeries } from "../../../context-api.ts";

export interface ChartLine {
  label: string;
  values: readonly (number | null)[];
}

/** Lines of more agents could not be told apart. */
const MOST_LINES = 6;

/** A line for each agent, those with the most rounds; `left`: how many agents have none. */
export function windowLines({ by, agents, window }: UsageSeries): { lines: ChartLine[]; left: number } {
  const rounds = new Map<number, number>();
  for (const agent of by) rounds.set(agent, (rounds.get(agent) ?? 0) + 1);
  const most = [...rounds].sort(([, a], [, b]) => b - a).slice(0, MOST_LINES);
  const lines = most
    .map(([agent]) => agent)
    .sort((a, b) => a - b)
    .map((agent) => ({
      label: agents[agent] ?? "",
      values: window.map((value, i) => (by[i] === agent ? value : null)),
    }));
  return { lines, left: rounds.size - lines.length };
}

/** Places spread evenly over so many, the first and the last among them. */
export function spread(length: number, most: number): number[] {
  if (length <= most) return Array.from({ length }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (length - 1)) / (most - 1)));
}

/** For charts time must only grow: machines that share a context have clocks of their own. */
export function growing(at: readonly number[]): number[] {
  let last = Number.NEGATIVE_INFINITY;
  return at.map((one) => {
    last = one > last ? one : last + 1;
    return last;
  });
}
