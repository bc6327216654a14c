// The parts of a blob as stores keep them: chunks of 1 MB, compressed where that helps, checked against their name at every read.
import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { blobHash, knownHash } from "./checksum.ts";
import { only } from "./only.ts";

const CHUNK = 1 << 20;
const RAW = 0;
const ZSTD = 1;
/** Below this, compressing on the main thread costs less than handing it over. */
const INLINE = 64 << 10;
/** Measured on shared data: a third quicker than level 1, and a third larger. Most come out in one piece. */
const quick = () => ({ params: { [constants.ZSTD_c_compressionLevel]: -3 }, chunkSize: INLINE });

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
    const small = raw.length <= INLINE ? zstdCompressSync(raw, quick()) : await promisify(zstdCompress)(raw, quick());
    parts.push(small.length < raw.length ? { codec: ZSTD, data: small } : { codec: RAW, data: raw });
  }
  return { hash: Buffer.from(knownHash(bytes), "hex"), parts };
}

export function joinParts(name: string, parts: BlobPart[]): Uint8Array | undefined {
  if (parts.length === 0 || parts.some((one, i) => one.part !== i || one.parts !== parts.length)) return undefined;
  try {
    const raw = parts.map((one) => (one.codec === ZSTD ? unpack(one.data) : one.data));
    const bytes = only(raw) ?? Buffer.concat(raw);
    return blobHash(bytes) === name ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function unpack(data: Uint8Array): Uint8Array {
  const size = frameSize(data);
  // One more than it will be: a full buffer makes Node ask for a second one.
  const exact = size !== undefined && size >= 64 && size <= CHUNK ? { chunkSize: size + 1 } : {};
  return zstdDecompressSync(data, { maxOutputLength: CHUNK, ...exact });
}

/** How long a zstd frame says that its content is (RFC 8878, 3.1.1.1). Undefined: it does not, or in a way that we do not write. */
function frameSize(data: Uint8Array): number | undefined {
  const descriptor = data[4] ?? 0;
  if ((descriptor & 0x3f) !== 0x20 || data.length < 9) return undefined;
  const view = new DataView(data.buffer, data.byteOffset);
  if (descriptor >> 6 === 0) return data[5];
  if (descriptor >> 6 === 1) return view.getUint16(5, true) + 256;
  return descriptor >> 6 === 2 ? view.getUint32(5, true) : undefined;
}
