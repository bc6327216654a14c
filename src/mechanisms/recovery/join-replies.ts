// Owns joining a reply that was cut off with its continuation.

/** Shorter repetitions may be chance: "hel" and "lo" share a letter that both need. */
const CERTAIN = 12;
/** A whole repeated line is no chance, even a short one. */
const CERTAIN_LINE = 4;
const LOOKED_AT = 2000;

/** Joins a continued text without repetition: what `b` says again of the end of `a` is left out. */
export function joinReplies(a: string, b: string): string {
  for (let size = Math.min(a.length, b.length, LOOKED_AT); size >= CERTAIN_LINE; size--) {
    if (!a.endsWith(b.slice(0, size))) continue;
    const before = a.length - size - 1;
    const fromLineStart = before < 0 || a[before] === "\n";
    if (size >= CERTAIN || fromLineStart) return a + b.slice(size);
  }
  return a + b;
}
