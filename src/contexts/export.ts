// The export of a context into one portable file: events with the blobs they name, checksummed line by line, never whole in memory.

import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { errorCode, isRecord } from "../ledger/guards.ts";
import type { Store, StoredEvent } from "../ledger/store.ts";
import { systemErrorText } from "../ledger/system-error.ts";
import { findEntry } from "./gc.ts";
import { FORMAT, nextSum, type PortableLine } from "./portable-lines.ts";

const CHUNK = 1 << 20;
const HASH = /[0-9a-f]{64}/g;
const compress = (raw: Uint8Array): Promise<Buffer> => promisify(zstdCompress)(raw);

export interface ExportReport {
  id: string;
  file: string;
  events: number;
  blobs: number;
  bytes: number;
  /** Of everything recorded; the same after an import. */
  hash: string;
  /** Blobs that events name and the store no longer has. */
  missing: string[];
}

/** Contract: the file is whole or not there. */
export async function exportContext(store: Store, id: string, file: string): Promise<ExportReport> {
  const entry = await findEntry(store, id);
  const fresh = `${file}.${process.pid}.new`;
  const out = await open(fresh, "wx", 0o600).catch((error) => {
    const named = errorCode(error) === "ENOENT" ? dirname(resolve(file)) : file;
    const why = systemErrorText(error, named) ?? messageOf(error);
    throw new HoldfastError("invalid", `${file} cannot be written: ${why}`, { cause: error });
  });
  let sum = "";
  let bytes = 0;
  const line = async (value: PortableLine) => {
    const json = JSON.stringify(value);
    sum = nextSum(sum, json);
    bytes += (await out.write(`${sum} ${json}\n`)).bytesWritten;
  };
  try {
    const { head: events, summary } = entry;
    await line({ holdfast: "context", format: FORMAT, id, events, summary, exportedAt: Date.now() });
    const done = new Set<string>();
    const missing: string[] = [];
    const content = createContentHash();
    let count = 0;
    let blobs = 0;
    for await (const event of store.read(id, { upTo: events })) {
      for (const [name] of JSON.stringify(event.data).matchAll(HASH)) {
        if (done.has(name)) continue;
        done.add(name);
        const blob = await store.blob(name);
        if (blob) {
          await blobLines(name, blob, line);
          blobs++;
        } else if (isReference(event, name)) missing.push(name);
      }
      content.add(event);
      const { sum: _, ...portable } = event; // it is of this store's ledger
      await line({ event: portable });
      count++;
    }
    const hash = content.digest();
    await line({ end: true, events: count, blobs, missing, hash });
    await out.sync();
    await out.close();
    await rename(fresh, file);
    return { id, file, events: count, blobs, bytes, hash, missing };
  } catch (error) {
    await out.close().catch(() => {});
    await rm(fresh, { force: true });
    throw error;
  }
}

/** Not just any 64 digits in some text: a value's reference, or a long string that was put aside. */
function isReference({ data }: StoredEvent, name: string): boolean {
  const { hash, $spill } = isRecord(data) ? data : {};
  return hash === name || (Array.isArray($spill) && $spill.some((one) => one.hash === name));
}

async function blobLines(name: string, blob: Uint8Array, line: (value: PortableLine) => Promise<void>): Promise<void> {
  const parts = Math.max(1, Math.ceil(blob.length / CHUNK));
  for (let part = 0; part < parts; part++) {
    const raw = blob.subarray(part * CHUNK, (part + 1) * CHUNK);
    await line({ blob: name, part, parts, data: (await compress(raw)).toString("base64") });
  }
}

/** One hash over everything recorded in a context, whatever store it lies in. */
export function createContentHash(): { add(event: StoredEvent): void; digest(): string } {
  const all = createHash("sha256");
  return {
    add({ seq, id, at, type, v, actor, touches, data }) {
      all.update(`${JSON.stringify([seq, id, at, type, v, actor, touches, data])}\n`);
    },
    digest: () => all.digest("hex"),
  };
}
