// The bytes of a folded snapshot as stores keep them.
import { promisify } from "node:util";
import { zstdCompress, zstdDecompressSync } from "node:zlib";

const compress = (text: Buffer): Promise<Buffer> => promisify(zstdCompress)(text);
/** Most slices are small: packing them costs more than it saves. */
const PACKED_FROM = 8_192;
/** What packed data begins with; text of JSON never does. */
const PACKED = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Two versions of Holdfast may share a ledger. */
export const KEPT_VERSIONS = 2;

export const snapshotName = (key: string): string => key.slice(0, key.indexOf("@"));

export async function packSnapshot(state: unknown): Promise<Uint8Array> {
  const text = Buffer.from(JSON.stringify(state));
  return text.length < PACKED_FROM ? text : compress(text);
}

export function unpackSnapshot(data: Uint8Array): unknown {
  const isPacked = PACKED.equals(data.subarray(0, PACKED.length));
  return JSON.parse((isPacked ? zstdDecompressSync(data) : Buffer.from(data)).toString());
}
