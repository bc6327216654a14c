// Which short sequences of letters a text has, in a few hundred bytes: a long text that cannot have some words need not be read to know it.

/** A bit for every two letters of the text, and no more than fit into an event beside it. */
const MOST_BYTES = 6_000;
/** From here on a letter says about as much as four Latin ones: two of them are looked at together. */
const CJK = 0x2e80;
const LATIN_GRAM = 4;
const CJK_GRAM = 2;

/** Base64. */
export function gramFilter(text: string): string {
  const bytes = new Uint8Array(Math.min(MOST_BYTES, Math.ceil(text.length / 16)));
  for (const bit of gramsIn(text, bytes.length * 8)) bytes[bit >> 3]! |= 1 << (bit & 7);
  return Buffer.from(bytes).toString("base64");
}

/** Contract: false only where the text has those words nowhere, in whatever case; true says nothing. */
export function mayHave(filter: string, words: string): boolean {
  const bytes = Buffer.from(filter, "base64");
  for (const bit of gramsIn(words, bytes.length * 8)) if ((bytes[bit >> 3]! & (1 << (bit & 7))) === 0) return false;
  return true;
}

function* gramsIn(text: string, bits: number): Generator<number> {
  for (let at = 0; at < text.length; at++) {
    const size = text.charCodeAt(at) >= CJK ? CJK_GRAM : LATIN_GRAM;
    if (at + size > text.length) continue;
    let sum = size;
    for (let i = at; i < at + size; i++) sum = Math.imul(sum ^ folded(text.charCodeAt(i)), 0x01000193);
    yield ((sum ^ (sum >>> 15)) >>> 0) % bits;
  }
}

/** As a regular expression with the flag `i` does it: by the upper case of a single unit, and never into ASCII. */
function folded(code: number): number {
  if (code < 128) return code >= 97 && code <= 122 ? code - 32 : code;
  const known = upper.get(code);
  if (known !== undefined) return known;
  const text = String.fromCharCode(code).toUpperCase();
  const made = text.length === 1 && text.charCodeAt(0) >= 128 ? text.charCodeAt(0) : code;
  upper.set(code, made);
  return made;
}

const upper = new Map<number, number>();
