// How wide a text is on a terminal: a column a character as people see it, two for wide ones such as Japanese, none for marks alone.

/** Signs of grapheme break class Prepend, which regular expressions have no name for. Terminals draw them beside what follows, not over it. */
export const JOINS_THE_NEXT =
  /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]/u;

/** Made at the first text that needs it: it takes a millisecond. */
let segmenter: Intl.Segmenter | undefined;

/** Contract: joined together they are the text. */
export function* clusters(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter();
  const mayJoin = JOINS_THE_NEXT.test(text);
  for (const { segment } of segmenter.segment(text)) {
    let rest = segment;
    while (mayJoin && rest !== "") {
      const first = String.fromCodePoint(rest.codePointAt(0)!);
      if (first === rest || !JOINS_THE_NEXT.test(first)) break;
      yield first;
      rest = rest.slice(first.length);
    }
    yield rest;
  }
}

/** Signs, arrows, frames: a column each in every font of a terminal. */
const NARROW =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2200-\u22ff\u2500-\u25f5\u2713\u2717]*$/;

/** Built when asked for: it takes a millisecond. */
const isWide = (character: string): boolean =>
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u.test(
    character,
  ) || /\p{Emoji_Presentation}/u.test(character);

function columnsOfOne(character: string): number {
  if (/^[\p{M}\p{Cf}]+$/u.test(character)) return 0;
  return isWide(character) ? 2 : 1;
}

export function columnsOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let columns = 0;
  for (const character of clusters(text)) columns += columnsOfOne(character);
  return columns;
}

/** At most so wide; what is longer ends in `…`. */
export function fitted(text: string, columns: number): string {
  if (NARROW.test(text)) return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
  let width = 0;
  let kept = 0; // as far as there is room for the mark that something is left out
  let end = 0;
  for (const character of clusters(text)) {
    width += columnsOfOne(character);
    end += character.length;
    if (width > columns) return `${text.slice(0, kept)}…`;
    if (width < columns) kept = end;
  }
  return text;
}

/** Filled up with blanks. */
export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - columnsOf(text)));
