// Characters as people see them, but never two in one: a sign that Unicode joins to whatever follows it stands alone.

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
