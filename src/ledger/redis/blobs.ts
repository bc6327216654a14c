// Blobs in Redis: hashes of parts. Small ones come along with their append, large ones are put before it and taken by it.
import { joinParts, type PackedBlob, packBlob } from "../blob-parts.ts";
import { hex } from "../checksum.ts";
import type { Argument } from "./connection.ts";
import type { RedisLink } from "./link.ts";

/** What comes along with one append, together. */
const ALONG_BYTES = 256 << 10;
/** So many parts are fetched in one answer. */
const AT_ONCE = 4;

export interface ReadyBlob {
  hash: string;
  size: number;
  /** The codec in front of the bytes. */
  parts: Buffer[];
}

export async function readyBlobs(blobs: readonly Uint8Array[]): Promise<ReadyBlob[]> {
  const packed = new Map<string, PackedBlob>();
  for (const bytes of blobs) {
    const one = await packBlob(bytes); // one after another: each takes memory
    packed.set(hex(one.hash), one);
  }
  return [...packed].map(([hash, one]) => {
    const parts = one.parts.map(({ codec, data }) => Buffer.concat([Buffer.of(codec), data]));
    return { hash, parts, size: parts.reduce((sum, part) => sum + part.length, 0) };
  });
}

export const comeAlong = (blobs: readonly ReadyBlob[]): boolean =>
  blobs.reduce((sum, one) => sum + one.size, 0) <= ALONG_BYTES;

/** Contract: what was put is whole, or the append says that it is missing. */
export async function putBlobs(link: RedisLink, blobs: readonly ReadyBlob[], leftMs: () => number): Promise<void> {
  for (const { hash, parts } of blobs) {
    for (const [i, part] of parts.entries()) {
      const args: Argument[] = [link.prefix, hash, String(parts.length), String(i), part];
      if (String(await link.step("putBlob", args, { leftMs })) === "there") break;
    }
  }
}

export async function getStoredBlob(link: RedisLink, hash: string): Promise<Uint8Array | undefined> {
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const answer = await link.step("blob", [link.prefix, hash, String(AT_ONCE)], { bytes: true });
  if (!Array.isArray(answer)) return undefined;
  const [count, ...found] = answer;
  const parts: unknown[] = found;
  const most = Number(count);
  while (parts.length < most) {
    const names = Array.from({ length: Math.min(AT_ONCE, most - parts.length) }, (_, i) => String(parts.length + i));
    const more = await link.command(["HMGET", `${link.prefix}blob:${hash}`, ...names], { bytes: true });
    if (!Array.isArray(more)) return undefined;
    parts.push(...more);
  }
  const whole = parts.filter((part) => Buffer.isBuffer(part));
  return joinParts(
    hash,
    whole.map((bytes, part) => ({ part, parts: most, codec: bytes[0] ?? 0, data: bytes.subarray(1) })),
  );
}
