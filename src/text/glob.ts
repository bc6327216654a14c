// Wildcards in paths, names and texts. A pattern is a list of steps over all places that the text may have been read up to:
// no step goes back, so that the time is the length of the pattern times that of the text, whatever both say.

/** `*`, `?`, `[…]`, `\x`, `**`, `{a,b}` over a relative path. A pattern without a slash matches the name at any depth. */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const anchored = pattern.replace(/^\.\//, "");
  const whole = steps(anchored.includes("/") ? anchored.replace(/^\//, "") : `**/${anchored}`, PATH);
  return (path) => matches(whole, path);
}

/** `*` matches anything, everything else itself. */
export const matchesStars = (pattern: string, text: string): boolean => matches(stepsOf(pattern, STARS), text);

/** One name: `*`, `?`, `[…]`, `\x`. */
export const matchesComponent = (pattern: string, name: string): boolean => matches(stepsOf(pattern, NAME), name);

/** Names against patterns of names; `**` matches any number of them. */
export function matchesComponents(patterns: readonly string[], names: readonly string[]): boolean {
  const all = patterns.flatMap((pattern) =>
    pattern === "**" ? [anyFolders] : [...stepsOf(pattern, COMPONENT), slash],
  );
  return matches(all, names.map((name) => `${name}/`).join(""));
}

/** An absolute pattern names its directory itself: that is opened and judged like a path. */
export function splitPattern({ pattern, path = "." }: { pattern: string; path?: string }): {
  path: string;
  pattern: string;
} {
  if (!pattern.startsWith("/")) return { path, pattern };
  const parts = pattern.split("/");
  const first = parts.findIndex((part, i) => /[*?[{\\]/.test(part) || i === parts.length - 1);
  return { path: parts.slice(0, first).join("/") || "/", pattern: `/${parts.slice(first).join("/")}` };
}

interface Dialect {
  /** What `*` stands for is alone special. */
  starsOnly?: boolean;
  /** A slash is matched by a slash and by `**` only. */
  slashes?: boolean;
  /** `**` goes over slashes, and `{a,b}` is one of both. */
  deep?: boolean;
}

const STARS: Dialect = { starsOnly: true };
const NAME: Dialect = {};
const COMPONENT: Dialect = { slashes: true };
const PATH: Dialect = { slashes: true, deep: true };

/** From the places that are reached, in rising order, to those that are reached behind it. */
type Step = (text: string, from: number[]) => number[];

const matches = (pattern: Step[], text: string): boolean => follow(pattern, text, [0]).at(-1) === text.length;

function follow(pattern: Step[], text: string, from: number[]): number[] {
  let places = from;
  for (const step of pattern) {
    if (places.length === 0) break;
    places = step(text, places);
  }
  return places;
}

const MOST_KEPT = 500;
const LONGEST_KEPT = 200;
const kept = new Map<Dialect, Map<string, Step[]>>();

/** The same few patterns are asked for again and again. */
function stepsOf(pattern: string, dialect: Dialect): Step[] {
  if (pattern.length > LONGEST_KEPT) return steps(pattern, dialect);
  const known = kept.get(dialect) ?? new Map<string, Step[]>();
  kept.set(dialect, known);
  const found = known.get(pattern) ?? steps(pattern, dialect);
  if (known.size >= MOST_KEPT) known.clear();
  known.set(pattern, found);
  return found;
}

/** Deeper braces are letters: nobody writes them, and the stack has an end. */
const MAX_DEPTH = 50;

function steps(pattern: string, dialect: Dialect): Step[] {
  const endOfSet = setsOf(pattern);
  const closing = dialect.deep ? bracesOf(pattern, endOfSet) : new Map<number, number>();
  const isOne = dialect.slashes ? (c: string) => c !== "/" : () => true;

  function between(start: number, end: number, depth: number): Step[] {
    const out: Step[] = [];
    let letters = "";
    const add = (step: Step) => {
      if (letters !== "") out.push(literal(letters));
      letters = "";
      out.push(step);
    };
    for (let i = start; i < end; i++) {
      const c = pattern.charAt(i);
      const close = depth < MAX_DEPTH ? closing.get(i) : undefined;
      if (c === "*") {
        const first = i;
        while (pattern[i + 1] === "*") i++;
        if (!dialect.deep || i === first) add(many(isOne));
        else if (pattern[i + 1] === "/") {
          add(anyFolders);
          i++;
        } else add(many(() => true));
      } else if (dialect.starsOnly) letters += c;
      else if (c === "?") add(one(isOne));
      else if (c === "[" && endOfSet(i) > 0) {
        const isIn = setOf(pattern.slice(i + 1, endOfSet(i)));
        add(one((letter) => isOne(letter) && isIn(letter)));
        i = endOfSet(i);
      } else if (close !== undefined) {
        const ways: Step[][] = [];
        let from = i + 1;
        for (const to of [...commasIn(pattern, { open: i, close, closing, endOfSet }), close]) {
          ways.push(between(from, to, depth + 1));
          from = to + 1;
        }
        add(either(ways));
        i = close;
      } else if (c === "\\" && i + 1 < end) letters += pattern.charAt(++i);
      else letters += c;
    }
    if (letters !== "") out.push(literal(letters));
    return out;
  }

  return between(0, pattern.length, 0);
}

const literal =
  (letters: string): Step =>
  (text, from) => {
    const to: number[] = [];
    for (const at of from) if (text.startsWith(letters, at)) to.push(at + letters.length);
    return to;
  };

const slash = literal("/");

const one =
  (test: (c: string) => boolean): Step =>
  (text, from) => {
    const to: number[] = [];
    for (const at of from) if (at < text.length && test(text.charAt(at))) to.push(at + 1);
    return to;
  };

const many =
  (test: (c: string) => boolean): Step =>
  (text, from) => {
    const to: number[] = [];
    let next = 0;
    for (const at of from) {
      if (at < next) continue; // reached from one before
      to.push(at);
      next = at + 1;
      while (next <= text.length && test(text.charAt(next - 1))) to.push(next++);
    }
    return to;
  };

/** Any number of folders, each with its slash; also none. */
const anyFolders: Step = (text, from) => {
  const starts: number[] = [];
  for (let at = text.indexOf("/", from[0]); at >= 0; at = text.indexOf("/", at + 1)) starts.push(at + 1);
  return merged(from, starts);
};

const either =
  (ways: Step[][]): Step =>
  (text, from) =>
    ways.map((way) => follow(way, text, from)).reduce(merged);

/** All places of both, in rising order, each once. */
function merged(a: number[], b: number[]): number[] {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const out: number[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const next = Math.min(a[i] ?? Number.POSITIVE_INFINITY, b[j] ?? Number.POSITIVE_INFINITY);
    if (a[i] === next) i++;
    if (b[j] === next) j++;
    out.push(next);
  }
  return out;
}

/** Where the set that begins at a `[` ends, or -1. A `]` that stands first is one of the letters. */
type EndOfSet = (open: number) => number;

function setsOf(pattern: string): EndOfSet {
  const last = pattern.lastIndexOf("]");
  return (open) => (open + 2 <= last ? pattern.indexOf("]", open + 2) : -1);
}

/** Of each `{` that has an end, where. */
function bracesOf(pattern: string, endOfSet: EndOfSet): Map<number, number> {
  const open: number[] = [];
  const closing = new Map<number, number>();
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern.charAt(i);
    if (c === "\\") i++;
    else if (c === "[" && endOfSet(i) > 0) i = endOfSet(i);
    else if (c === "{") open.push(i);
    else if (c === "}") {
      const start = open.pop();
      if (start !== undefined) closing.set(start, i);
    }
  }
  return closing;
}

interface Braces {
  open: number;
  close: number;
  closing: Map<number, number>;
  endOfSet: EndOfSet;
}

/** The commas of a pair of braces, without those of braces inside. */
function commasIn(pattern: string, { open, close, closing, endOfSet }: Braces): number[] {
  const commas: number[] = [];
  for (let i = open + 1; i < close; i++) {
    const c = pattern.charAt(i);
    if (c === "\\") i++;
    else if (c === "[" && endOfSet(i) > 0) i = endOfSet(i);
    else if (c === ",") commas.push(i);
    else i = closing.get(i) ?? i;
  }
  return commas;
}

function setOf(inside: string): (c: string) => boolean {
  const negated = /^[!^]/.test(inside);
  const set = negated ? inside.slice(1) : inside;
  return (c) => isInSet(set, c) !== negated;
}

function isInSet(set: string, c: string): boolean {
  for (let i = 0; i < set.length; i++) {
    if (set[i + 1] === "-" && i + 2 < set.length) {
      if (set.charAt(i) <= c && c <= set.charAt(i + 2)) return true;
      i += 2;
    } else if (set[i] === c) return true;
  }
  return false;
}
