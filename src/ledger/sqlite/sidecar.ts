// The two files beside the database: `.heads`, what every ledger's head should be, and `.bell`, touched at each commit.
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { SUM_BYTES } from "../checksum.ts";
import { NAME_BYTES } from "../draft.ts";

/** SQLite silently drops committed rows when a bit of its WAL flips; the head written here says that they existed. */
export interface Head {
  n: number;
  name: string;
  seq: number;
  sum: Uint8Array;
  removed: boolean;
  /** A row of this ledger failed its checksum: nothing may be appended to it. */
  damaged: boolean;
}

export interface Sidecar {
  /** Contract: after the commit; never lowers a seq; no fsync (after a power cut an older head only finds less). */
  put(head: Head): void;
  ring(): void;
  close(): void;
}

const SLOT = 256;
const CREATE = constants.O_RDWR | constants.O_CREAT;
const REMOVED = 1;
const DAMAGED = 2;

export function openSidecar(file: string): Sidecar {
  const heads = openSync(`${file}.heads`, CREATE, 0o600);
  const bell = openSync(`${file}.bell`, CREATE, 0o600);
  const slot = Buffer.alloc(SLOT);
  const one = Buffer.from("!");
  return {
    put: unharmed((head: Head) => {
      const at = head.n * SLOT;
      const before = readSync(heads, slot, 0, SLOT, at) === SLOT ? decode(slot) : undefined;
      if (before?.n === head.n) {
        if (before.seq > head.seq && !head.removed && !head.damaged) return;
        head.damaged ||= before.damaged;
        head.removed ||= before.removed;
      }
      encode(slot, head);
      writeSync(heads, slot, 0, SLOT, at);
    }),
    ring: unharmed(() => void writeSync(bell, one, 0, 1, 0)),
    close() {
      closeSync(heads);
      closeSync(bell);
    },
  };
}

/** What is committed stays committed: a sidecar that cannot be written only finds less. */
function unharmed<A extends unknown[]>(body: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      body(...args);
    } catch {}
  };
}

/** Slots that do not verify are left out: they only make the check weaker. Undefined: there is no such file. */
export function readHeads(file: string): Map<number, Head> | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(`${file}.heads`);
  } catch {
    return undefined;
  }
  const heads = new Map<number, Head>();
  for (let at = SLOT; at + SLOT <= bytes.length; at += SLOT) {
    const head = decode(bytes.subarray(at, at + SLOT));
    if (head && head.n === at / SLOT) heads.set(head.n, head);
  }
  return heads;
}

function encode(slot: Buffer, head: Head): void {
  slot.fill(0);
  slot[4] = (head.removed ? REMOVED : 0) | (head.damaged ? DAMAGED : 0);
  slot.writeUInt32LE(head.n, 8);
  slot.writeUInt32LE(head.seq, 12);
  slot.set(head.sum, 16);
  slot[5] = slot.write(head.name, 16 + SUM_BYTES, NAME_BYTES, "utf8");
  slot.writeUInt32LE(crc32(slot.subarray(4)), 0);
}

function decode(slot: Buffer): Head | undefined {
  const n = slot.readUInt32LE(8);
  if (n === 0 || slot.readUInt32LE(0) !== crc32(slot.subarray(4))) return undefined;
  const flags = slot.readUInt8(4);
  return {
    n,
    name: slot.toString("utf8", 16 + SUM_BYTES, 16 + SUM_BYTES + slot.readUInt8(5)),
    seq: slot.readUInt32LE(12),
    sum: slot.subarray(16, 16 + SUM_BYTES),
    removed: (flags & REMOVED) !== 0,
    damaged: (flags & DAMAGED) !== 0,
  };
}
