// Owns the guess which name was meant.
import { quoted } from "./source.ts";

const LONGEST = 64;
const MOST = 1_000;

/** ` (did you mean "topic"?)` or "". */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: { name: string; distance: number } | undefined;
  let seen = 0;
  if (wanted.length > LONGEST) return "";
  for (const name of names) {
    if (++seen > MOST) break;
    if (name.length > LONGEST || Math.abs(name.length - wanted.length) > limit) continue;
    const distance = edits(wanted.toLowerCase(), name.toLowerCase());
    if (distance <= limit && distance < name.length && (!best || distance < best.distance)) best = { name, distance };
  }
  return best ? ` (did you mean ${quoted(best.name)}?)` : "";
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
