// Writing git packs: objects in, one pack with its index out, whole or not at all.
import { createHash, hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { crashPoint } from "../ledger/crash-point.ts";
import { thisReader } from "./reader.ts";

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
  /** Compressing costs 40 µs and more an object: of many, it is left to the background. */
  add(oid: Oid, type: ObjectType, content: Uint8Array, compress: boolean): void;
  /** Entries that lie one behind the other, as a reader gives them. */
  addRead(bytes: Buffer, entries: PackEntry[]): void;
  readonly size: number;
  /** Writes it into the folder under names that nobody reads; `publish` makes it durable and then seen. `raw`: not compressed yet. */
  write(dir: string): WrittenPack;
}

export interface PackEntry {
  oid: Oid;
  crc: number;
  length: number;
}

export interface WrittenPack {
  name: string;
  oids: Oid[];
  raw: boolean;
  publish(): Promise<void>;
}

const TYPES = { tree: 2, blob: 3 } as const;

export function newPack(): Pack {
  const entries: PackEntry[] = [];
  const parts: Buffer[] = [];
  let size = 0;
  let raw = false;
  return {
    get size() {
      return size;
    },
    add(oid, type, content, compress) {
      raw ||= !compress;
      const bytes = compress ? deflated(TYPES[type], content) : thisReader().framed(TYPES[type], content);
      entries.push({ oid, crc: crc32(bytes), length: bytes.length });
      parts.push(bytes);
      size += content.length + 32;
    },
    addRead(bytes, read) {
      raw = true;
      for (const entry of read) entries.push(entry);
      parts.push(bytes);
      size += bytes.length;
    },
    write(dir) {
      const { trailer, placed, all } = layOut(entries, parts);
      const name = `pack-${trailer.toString("hex")}`;
      const fresh = (kind: string) => path.join(dir, `tmp_${process.pid}_${name}.${kind}`);
      writeParts(fresh("pack"), all);
      writeParts(fresh("idx"), [indexOf(placed, trailer)]);
      // The disk begins at once: by the time it is waited for, most of it is there.
      const durable = Promise.all([fresh("pack"), fresh("idx")].map(synced));
      durable.catch(() => undefined); // publish says it
      return {
        name,
        oids: entries.map((e) => e.oid),
        raw,
        async publish() {
          await durable;
          if (raw) fs.writeFileSync(path.join(dir, `${name}.raw`), "");
          fs.renameSync(fresh("pack"), path.join(dir, `${name}.pack`));
          crashPoint("files.pack.written");
          fs.renameSync(fresh("idx"), path.join(dir, `${name}.idx`));
          crashPoint("files.idx.written");
        },
      };
    },
  };
}

function layOut(entries: PackEntry[], parts: Buffer[]) {
  const head = Buffer.alloc(12);
  head.write("PACK", 0, "latin1");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const sum = createHash("sha1").update(head);
  for (const part of parts) sum.update(part);
  let at = head.length;
  const placed = entries.map(({ oid, crc, length }) => {
    const offset = at;
    at += length;
    return { oid, crc, offset };
  });
  const trailer = sum.digest();
  return { all: [head, ...parts, trailer], trailer, placed };
}

/** The system takes a thousand buffers at once. */
function writeParts(file: string, parts: Buffer[]): void {
  const fd = fs.openSync(file, "w", 0o444);
  try {
    for (let i = 0; i < parts.length; i += 1_000) {
      const some = parts.slice(i, i + 1_000);
      const wanted = some.reduce((sum, part) => sum + part.length, 0);
      const written = fs.writevSync(fd, some);
      if (written < wanted) fs.writeFileSync(fd, Buffer.concat(some).subarray(written));
    }
  } finally {
    fs.closeSync(fd);
  }
}

export async function synced(file: string): Promise<void> {
  const handle = await fs.promises.open(file, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
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

/** The names of the objects of a pack, from its index; none when it is not whole. */
export function oidsIn(index: Buffer): Oid[] {
  if (index.length < 1032 || index.readUInt32BE(0) !== 0xff744f63) return [];
  const n = index.readUInt32BE(8 + 255 * 4);
  if (index.length < 1032 + n * 28 + 40) return [];
  return Array.from({ length: n }, (_, i) => index.toString("hex", 1032 + i * 20, 1052 + i * 20));
}

function deflated(type: number, content: Uint8Array): Buffer {
  const bytes = [];
  let byte = (type << 4) | (content.length & 15);
  for (let rest = Math.floor(content.length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 128);
    byte = rest & 127;
  }
  return Buffer.concat([Buffer.from([...bytes, byte]), deflateSync(content)]);
}
