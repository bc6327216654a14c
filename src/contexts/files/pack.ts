// Owns packs as this house writes them: objects in, one pack with its index out, whole or not at all.
import { createHash, hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { crashPoint } from "../../ledger/crash-point.ts";

export type ObjectType = "blob" | "tree";

/** 40 hex digits. */
export type Oid = string;

export function oidOf(type: ObjectType, content: Uint8Array): Oid {
  const head = `${type} ${content.length}\0`;
  const bytes = Buffer.allocUnsafe(head.length + content.length);
  bytes.write(head, 0, "latin1");
  bytes.set(content, head.length);
  return hash("sha1", bytes, "hex");
}

export interface Pack {
  add(oid: Oid, type: ObjectType, content: Uint8Array): void;
  readonly size: number;
  readonly count: number;
  /** Writes it into the folder; gives its name. `raw`: not compressed yet. */
  write(dir: string): { name: string; oids: Oid[]; raw: boolean };
}

const TYPES = { tree: 2, blob: 3 } as const;
/** Compressing costs 40 µs and more an object; beyond this many, or this many bytes, that is left to the background. */
const COMPRESS_OBJECTS = 64;
const COMPRESS_BYTES = 1 << 20;

export function newPack(): Pack {
  const entries: { oid: Oid; bytes: Buffer[] }[] = [];
  let size = 0;
  let raw = false;
  return {
    get size() {
      return size;
    },
    get count() {
      return entries.length;
    },
    add(oid, type, content) {
      const compress = entries.length < COMPRESS_OBJECTS && size + content.length < COMPRESS_BYTES;
      raw ||= !compress;
      const bytes = [entryHead(TYPES[type], content.length), ...(compress ? [deflateSync(content)] : stored(content))];
      entries.push({ oid, bytes });
      size += content.length + 32;
    },
    write(dir) {
      const { pack, crcs, offsets } = layOut(entries.map((e) => e.bytes));
      const trailer = createHash("sha1").update(pack).digest();
      const name = `pack-${trailer.toString("hex")}`;
      const index = indexOf(
        entries.map((e, i) => ({ oid: e.oid, crc: crcs[i]!, offset: offsets[i]! })),
        trailer,
      );
      if (raw) writeWhole(dir, `${name}.raw`, Buffer.alloc(0));
      writeWhole(dir, `${name}.pack`, pack, trailer);
      crashPoint("files.pack.written");
      writeWhole(dir, `${name}.idx`, index);
      crashPoint("files.idx.written");
      const folder = fs.openSync(dir, "r");
      fs.fsyncSync(folder);
      fs.closeSync(folder);
      return { name, oids: entries.map((e) => e.oid), raw };
    },
  };
}

function layOut(entries: Buffer[][]): { pack: Buffer; crcs: number[]; offsets: number[] } {
  const head = Buffer.alloc(12);
  head.write("PACK", 0, "latin1");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const pack = Buffer.concat([head, ...entries.flat()]);
  let at = 12;
  const offsets = entries.map((bytes) => {
    const start = at;
    for (const b of bytes) at += b.length;
    return start;
  });
  const crcs = offsets.map((start, i) => crc32(pack.subarray(start, offsets[i + 1] ?? at)));
  return { pack, crcs, offsets };
}

/** Index of a pack, version 2. */
function indexOf(entries: { oid: Oid; crc: number; offset: number }[], trailer: Buffer): Buffer {
  entries.sort((a, b) => (a.oid < b.oid ? -1 : 1));
  const n = entries.length;
  const out = Buffer.alloc(8 + 1024 + n * 28 + 40);
  out.writeUInt32BE(0xff744f63, 0);
  out.writeUInt32BE(2, 4);
  entries.forEach((e, i) => {
    const first = Number.parseInt(e.oid.slice(0, 2), 16);
    out.writeUInt32BE(i + 1, 8 + first * 4);
    out.write(e.oid, 1032 + i * 20, "hex");
    out.writeUInt32BE(e.crc >>> 0, 1032 + n * 20 + i * 4);
    out.writeUInt32BE(e.offset, 1032 + n * 24 + i * 4);
  });
  for (let i = 1; i < 256; i++) {
    const at = 8 + i * 4;
    out.writeUInt32BE(Math.max(out.readUInt32BE(at), out.readUInt32BE(at - 4)), at);
  }
  trailer.copy(out, out.length - 40);
  createHash("sha1")
    .update(out.subarray(0, -20))
    .digest()
    .copy(out, out.length - 20);
  return out;
}

/** The names of the objects of a pack, from its index. */
export function oidsIn(index: Buffer): Oid[] {
  if (index.readUInt32BE(0) !== 0xff744f63) return [];
  const n = index.readUInt32BE(8 + 255 * 4);
  return Array.from({ length: n }, (_, i) => index.toString("hex", 1032 + i * 20, 1052 + i * 20));
}

function writeWhole(dir: string, name: string, ...parts: Buffer[]): void {
  const fresh = path.join(dir, `tmp_${process.pid}_${name}`);
  const fd = fs.openSync(fresh, "w", 0o444);
  for (const part of parts) fs.writeFileSync(fd, part);
  fs.fsyncSync(fd);
  fs.closeSync(fd);
  fs.renameSync(fresh, path.join(dir, name));
}

function entryHead(type: number, size: number): Buffer {
  const bytes = [];
  let byte = (type << 4) | (size & 15);
  for (let rest = Math.floor(size / 16); ; rest = Math.floor(rest / 128)) {
    if (rest === 0) return Buffer.from([...bytes, byte]);
    bytes.push(byte | 128);
    byte = rest & 127;
  }
}

/** A zlib stream that holds its content as it is. */
function stored(content: Uint8Array): Buffer[] {
  const parts = [Buffer.from([0x78, 0x01])];
  let at = 0;
  do {
    const part = content.subarray(at, at + 65_535);
    at += part.length;
    const n = part.length;
    parts.push(
      Buffer.from([at >= content.length ? 1 : 0, n & 255, n >> 8, ~n & 255, (~n >> 8) & 255]),
      Buffer.from(part),
    );
  } while (at < content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(adler32(content));
  return [...parts, sum];
}

function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let i = 0; i < bytes.length; ) {
    const end = Math.min(i + 3_800, bytes.length);
    for (; i < end; i++) {
      a += bytes[i]!;
      b += a;
    }
    a %= 65_521;
    b %= 65_521;
  }
  return b * 65_536 + a;
}
