// Owns the wording of mistakes: which known name a misspelt one was meant to be.

/** The nearest name if it is near enough to be a slip of the hand. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  let best: { name: string; far: number } | undefined;
  for (const name of known) {
    const far = distance(wanted, name.toLowerCase());
    if (far < (best?.far ?? Math.max(2, Math.floor(name.length / 3) + 1))) best = { name, far };
  }
  return best?.name;
}

/** Letters put in, left out, changed, or two of them swapped. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8) return Number.POSITIVE_INFINITY;
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
