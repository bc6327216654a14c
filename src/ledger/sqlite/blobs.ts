// Blobs in SQLite: a row for each part.
import { type BlobPart, joinParts, type PackedBlob } from "../blob-parts.ts";
import type { Connection } from "./connection.ts";

export function putBlob(db: Connection, { hash, parts }: PackedBlob): void {
  const sql = "INSERT INTO blobs (hash, part, parts, codec, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
  for (const [part, { codec, data }] of parts.entries()) {
    if (db.run(sql, hash, part, parts.length, codec, data) === 0) return; // it is here already, whole
  }
}

/** Undefined when it is not here, or not whole. */
export function getBlob(db: Connection, name: string): Uint8Array | undefined {
  if (!/^[0-9a-f]{64}$/.test(name)) return undefined;
  const sql = "SELECT part, parts, codec, data FROM blobs WHERE hash = ? ORDER BY part";
  return joinParts(name, db.all<BlobPart>(sql, Buffer.from(name, "hex")));
}
