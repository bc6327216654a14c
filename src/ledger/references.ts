// Owns what counts as a reference to a blob: its hash, 64 hexadecimal digits, anywhere in an event's data.

const HASH = 64;
const ANY = /[0-9a-f]{64}/;
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

/** Most data has none, and this is the quickest way to say so. */
export function mayRefer(json: string): boolean {
  return ANY.test(json);
}
