// How numbers are written on the page: as the terminal writes them, and what only the page needs.
import { ago } from "../../presentation/format.ts";
import type { TokenCounts } from "../api.ts";

export { ago, byteCount, duration, elapsed, money, tokens } from "../../presentation/format.ts";

/** A moment in the reader's own time: `14:03:21` today, `11-18 14:03` this year, else with the year. */
export function moment(at: number, now: number): string {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, "0");
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (new Date(now).toDateString() === date.toDateString()) return `${clock}:${two(date.getSeconds())}`;
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const year = date.getFullYear();
  return year === new Date(now).getFullYear() ? `${day} ${clock}` : `${year}-${day} ${clock}`;
}

/** The page's clock is as old as that at most: what has just been made is not yet to come. */
const NOW_MS = 5_000;

/** `in 5 min`, `now`, or `5 min ago`. */
export function away(at: number, now: number): string {
  if (Math.abs(at - now) <= NOW_MS) return "now";
  return at > now ? `in ${ago(at - now)}` : `${ago(now - at)} ago`;
}

/** `1 event`, `2,345 events`. */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;

/** Everything that went in, cached or not. */
export const tokensIn = ({ input, cacheRead, cacheWrite }: TokenCounts): number => input + cacheRead + cacheWrite;
