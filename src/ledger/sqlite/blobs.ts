// Owns blobs: chunks of 1 MB, compressed where that helps, checked against their name at every read.
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Connection } from "./connection.ts";

const CHUNK = 1 << 20;
const RAW = 0;
const ZSTD = 1;
/** Below this, compressing on the main thread costs less than handing it over. */
const INLINE = 64 << 10;
const compressAside = promisify(zstdCompress);
/** The quickest level: measured, as small as the default on shared data, and quicker. */
const QUICK = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export interface PackedBlob {
  hash: Uint8Array;
  parts: { codec: number; data: Uint8Array }[];
}

export interface BlobPart {
  part: number;
  parts: number;
  codec: number;
  data: Uint8Array;
}

export async function packBlob(bytes: Uint8Array): Promise<PackedBlob> {
  const parts: PackedBlob["parts"] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += CHUNK) {
    const raw = bytes.subarray(at, at + CHUNK);
    const small = raw.length <= INLINE ? zstdCompressSync(raw, QUICK) : await compressAside(raw, QUICK);
    parts.push(small.length < raw.length ? { codec: ZSTD, data: small } : { codec: RAW, data: raw });
  }
  return { hash: hash("sha256", bytes, "buffer"), parts };
}

export function putBlob(db: Connection, blob: PackedBlob): void {
  if (db.get("SELECT 1 FROM blobs WHERE hash = ? AND part = 0", blob.hash)) return;
  for (const [part, { codec, data }] of blob.parts.entries()) {
    db.run(
      "INSERT INTO blobs (hash, part, parts, codec, data) VALUES (?, ?, ?, ?, ?)",
      blob.hash,
      part,
      blob.parts.length,
      codec,
      data,
    );
  }
}

/** Undefined when it is not here, or not whole. */
export function getBlob(db: Connection, name: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{64}$/.test(name)) return undefined;
  const sql = "SELECT part, parts, codec, data FROM blobs WHERE hash = ? ORDER BY part";
  return joinParts(name, db.all<BlobPart>(sql, Buffer.from(name, "hex")));
}

export function joinParts(name: string, parts: BlobPart[]): Uint8Array | undefined {
  if (parts.length === 0 || parts.some((one, i) => one.part !== i || one.parts !== parts.length)) return undefined;
  try {
    const raw = parts.map((one) =>
      one.codec === ZSTD ? zstdDecompressSync(one.data, { maxOutputLength: CHUNK }) : one.data,
    );
    const bytes = raw.length === 1 ? raw[0]! : Buffer.concat(raw);
    return hash("sha256", bytes, "hex") === name ? bytes : undefined;
  } catch {
    return undefined;
  }
}
