// How alike two short texts are, and which known name a misspelt one was meant to be.

/** Dice's coefficient over pairs of characters: 0 (nothing in common) to 1 (the same). */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a.length < 2 || b.length < 2) return 0;
  const pairs = new Map<string, number>();
  for (let i = 0; i < a.length - 1; i++) {
    const pair = a.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let shared = 0;
  for (let i = 0; i < b.length - 1; i++) {
    const pair = b.slice(i, i + 2);
    const left = pairs.get(pair) ?? 0;
    if (left === 0) continue;
    pairs.set(pair, left - 1);
    shared++;
  }
  return (2 * shared) / (a.length + b.length - 2);
}

const LONGEST = 64;
const MOST = 1_000;

/** The nearest name if it is near enough to be a slip of the hand: a third of its letters, and never all of them. */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const wanted = given.toLowerCase();
  let best: { name: string; far: number } | undefined;
  let seen = 0;
  if (wanted.length > LONGEST) return undefined;
  for (const name of known) {
    if (++seen > MOST) break;
    const enough = Math.max(1, Math.floor(Math.max(name.length, wanted.length) / 3));
    if (name.length > LONGEST || Math.abs(name.length - wanted.length) > enough) continue;
    const far = edits(wanted, name.toLowerCase());
    if (far <= enough && far < name.length && far < (best?.far ?? Number.POSITIVE_INFINITY)) best = { name, far };
  }
  return best?.name;
}

/** Letters put in, left out, changed, or two neighbours swapped. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
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
