// Owns matching text against wildcards in linear space and without regular expressions: hostile patterns stay cheap.

/** `*` matches anything, everything else itself. */
export function matchesStars(pattern: string, text: string): boolean {
  return match(pattern, text, (p, at, c) => (p[at] === c ? at + 1 : -1));
}

/** One path component: `*`, `?`, `[…]`, `\x`. */
export function matchesComponent(pattern: string, name: string): boolean {
  return match(pattern, name, step);
}

/** Components against components; `**` matches any number of them. */
export function matchesComponents(pattern: readonly string[], names: readonly string[]): boolean {
  let [p, n, star, mark] = [0, 0, -1, 0];
  while (n < names.length) {
    if (p < pattern.length && pattern[p] === "**") {
      star = p++;
      mark = n;
    } else if (p < pattern.length && matchesComponent(pattern[p]!, names[n]!)) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++mark;
    } else return false;
  }
  while (pattern[p] === "**") p++;
  return p === pattern.length;
}

/** Gives the next position in the pattern after it consumed one character, or -1. */
type Step = (pattern: string, at: number, c: string) => number;

function match(pattern: string, text: string, next: Step): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      mark = t;
      continue;
    }
    const after = p < pattern.length ? next(pattern, p, text[t]!) : -1;
    if (after >= 0) {
      p = after;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

function step(pattern: string, at: number, c: string): number {
  const p = pattern[at]!;
  if (p === "?") return at + 1;
  if (p === "\\" && at + 1 < pattern.length) return pattern[at + 1] === c ? at + 2 : -1;
  const end = p === "[" ? pattern.indexOf("]", at + 2) : -1;
  if (end < 0) return p === c ? at + 1 : -1;
  const negated = pattern[at + 1] === "!" || pattern[at + 1] === "^";
  return inSet(pattern.slice(negated ? at + 2 : at + 1, end), c) !== negated ? end + 1 : -1;
}

function inSet(set: string, c: string): boolean {
  for (let i = 0; i < set.length; i++) {
    if (set[i + 1] === "-" && i + 2 < set.length) {
      if (set[i]! <= c && c <= set[i + 2]!) return true;
      i += 2;
    } else if (set[i] === c) return true;
  }
  return false;
}
