// What counts as a reference to a blob: its hash, 64 hexadecimal digits, anywhere in an event's data.

const HASH = 64;
const DIGITS = /[0-9a-f]{64,}/g;

/**
 * Every text in the data that could be the hash of a blob: what mechanisms write into texts (`blob:…`) counts too. A hash may stand
 * right behind other digits: then each place in the run counts. A store records those of which it has the blob.
 */
export function* possibleReferences(json: string): Generator<string> {
  if (!mayRefer(json)) return;
  for (const [digits] of json.matchAll(DIGITS)) {
    for (let at = 0; at + HASH <= digits.length; at++) yield digits.slice(at, at + HASH);
  }
}

/** Most data has none. Looked for from the end of each place where one could stand: what is no digit there rules out all places around it. */
export function mayRefer(json: string): boolean {
  for (let end = HASH - 1; end < json.length; ) {
    let at = end;
    while (at > end - HASH && isDigit(json.charCodeAt(at))) at--;
    if (at === end - HASH) return true;
    end = at + HASH;
  }
  return false;
}

const isDigit = (code: number): boolean => (code >= 48 && code <= 57) || (code >= 97 && code <= 102);
