// Ids: a prefix, then time and randomness in a sortable alphabet.
import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const POOL_BYTES = 1024;
let pool: Uint8Array = new Uint8Array(0);
let used = 0;
let lastMs = 0;
let counter = 0;

/** One call of the system for many ids. */
function randomByte(): number {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  return pool[used++]!;
}

/** `ctx_06a3k…`: 9 characters of time, 2 of a counter within one millisecond, 5 random. Sorts by creation inside one process. */
export function newId(prefix: string): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter >= 1024) {
    lastMs++;
    counter = 0;
  }
  let random = "";
  for (let i = 0; i < 5; i++) random += ALPHABET[randomByte() % 32];
  return `${firstIdAt(prefix, lastMs)}${ALPHABET[counter >> 5]}${ALPHABET[counter & 31]}${random}`;
}

/** What the ids of that millisecond begin with: none that sorts before it is younger. */
export function firstIdAt(prefix: string, ms: number): string {
  let time = "";
  for (let left = Math.floor(ms), i = 0; i < 9; i++) {
    time = ALPHABET[left % 32] + time;
    left = Math.floor(left / 32);
  }
  return `${prefix}_${time}`;
}
