// Checksums: the chain over the events of a ledger, and the hash that names a blob.
import { hash } from "node:crypto";

/** The columns of one event row, exactly as they are stored. */
export interface Row {
  seq: number;
  id: string;
  at: number;
  type: string;
  v: number;
  actor: string;
  /** JSON array; null when the event touches nothing. */
  touches: string | null;
  /** JSON text. */
  data: string;
  sum: Uint8Array;
}

export const SUM_BYTES = 16;

/** 16 bytes over texts and numbers; lengths come first, so that no two different lists give the same input. */
export function digest(prefix: string, parts: readonly (string | number | null)[]): Uint8Array {
  let lengths = prefix;
  let text = "";
  for (const part of parts) {
    const piece = part === null ? "" : String(part);
    lengths += part === null ? ",-" : `,${piece.length}`;
    text += piece;
  }
  return hash("sha256", `${lengths}|${text}`, "buffer").subarray(0, SUM_BYTES);
}

/** What the first event of a ledger is chained to. */
export function genesis(n: number, name: string): Uint8Array {
  return digest("ledger", [n, name]);
}

export function eventSum(previous: Uint8Array, row: Omit<Row, "sum">): Uint8Array {
  const prefix = hex(previous);
  return digest(prefix, [row.seq, row.id, row.at, row.type, row.v, row.actor, row.touches, row.data]);
}

export function bytesSum(parts: readonly (string | number | null)[], bytes: Uint8Array): Uint8Array {
  return digest("bytes", [...parts, hash("sha256", bytes, "hex")]);
}

/** The name of a blob: sha256 in hexadecimal. */
export function blobHash(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** Bytes that were named before they were handed to a store: hashing costs as much as a third of compressing. */
const named = new WeakMap<Uint8Array, string>();

/** Contract: for bytes that the caller made, and that nobody changes from now on; `knownHash` believes it. */
export function nameBlob(bytes: Uint8Array): string {
  const name = blobHash(bytes);
  named.set(bytes, name);
  return name;
}

export function knownHash(bytes: Uint8Array): string {
  return named.get(bytes) ?? blobHash(bytes);
}

export function sameBytes(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined): boolean {
  return !!a && !!b && Buffer.compare(a, b) === 0;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
