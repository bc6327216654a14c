// Brace expansion: `{a,b}` and `{1..3}` as text, before anything else is expanded, as the shell does it.

/** The alternatives of the word as written, or undefined when there are more than `max`. */
export function expandBraces(word: string, max: number): string[] | undefined {
  let done: string[] = [];
  let open = [word];
  for (let round = 0; open.length > 0; round++) {
    const next: string[] = [];
    for (const text of open) {
      const brace = findBrace(text);
      if (!brace) done.push(text);
      else next.push(...brace.items.map((item) => text.slice(0, brace.from) + item + text.slice(brace.to)));
      if (done.length + next.length > max) return undefined;
    }
    open = next;
    if (round > 32) return undefined;
  }
  done = [...new Set(done)];
  return done;
}

interface Brace {
  from: number;
  to: number;
  items: string[];
}

/** The first brace that expands. */
function findBrace(text: string): Brace | undefined {
  for (let at = 0; at < text.length; at++) {
    const skipped = skipQuoted(text, at);
    if (skipped > at) {
      at = skipped - 1;
      continue;
    }
    if (text[at] !== "{") continue;
    const brace = readBrace(text, at);
    if (brace) return brace;
  }
  return undefined;
}

function readBrace(text: string, from: number): Brace | undefined {
  const items: string[] = [];
  let [depth, start] = [0, from + 1];
  for (let at = from + 1; at < text.length; at++) {
    const skipped = skipQuoted(text, at);
    if (skipped > at) {
      at = skipped - 1;
      continue;
    }
    const c = text[at];
    if (c === "{") depth++;
    else if (c === "," && depth === 0) {
      items.push(text.slice(start, at));
      start = at + 1;
    } else if (c === "}" && depth-- === 0) {
      const last = text.slice(start, at);
      if (items.length > 0) return { from, to: at + 1, items: [...items, last] };
      const range = readRange(last);
      return range && { from, to: at + 1, items: range };
    }
  }
  return undefined;
}

const MAX_NUMBERS = 12;

/** Of a long range of numbers the ends stand for all. */
function readRange(text: string): string[] | undefined {
  const [, first, last] = /^(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.-?\d{1,9})?$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  if (/\d/.test(first) && /\d/.test(last)) {
    const [from, to] = [Math.min(Number(first), Number(last)), Math.max(Number(first), Number(last))];
    if (/^-?0\d|^-?0\d/.test(text) || to - from > MAX_NUMBERS) return first === last ? [first] : [first, last];
    return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
  }
  const [a, b] = [first.charCodeAt(0), last.charCodeAt(0)];
  const letters: string[] = [];
  for (let c = Math.min(a, b); c <= Math.max(a, b); c++) letters.push(String.fromCodePoint(c));
  return letters;
}

/** Past a quoted piece, an escape, `${…}`, `$(…)` or backticks that begin at `at`; else `at`. */
function skipQuoted(text: string, at: number): number {
  const c = text[at];
  if (c === "\\") return at + 2;
  if (c === "'" || c === "`") return endOf(text, c, at + 1);
  if (c === '"') return endOfDouble(text, at + 1);
  if (c === "$" && text[at + 1] === "{") return endOfNest(text, at + 2, "{", "}");
  if ((c === "$" || c === "<" || c === ">") && text[at + 1] === "(") return endOfNest(text, at + 2, "(", ")");
  return at;
}

function endOf(text: string, quote: string, from: number): number {
  const end = text.indexOf(quote, from);
  return end < 0 ? text.length : end + 1;
}

function endOfDouble(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function endOfNest(text: string, from: number, open: string, close: string): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "'") at = endOf(text, "'", at + 1) - 1;
    else if (text[at] === open) depth++;
    else if (text[at] === close && --depth === 0) return at + 1;
  }
  return text.length;
}
