// The import of an exported context: the file is checked whole first, then recorded batch by batch under an id that nobody has.

import { resolve } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { blobHash } from "../ledger/checksum.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { holderText } from "../ledger/holder.ts";
import { newId } from "../ledger/id.ts";
import type { EventInput, Seq, Store } from "../ledger/store.ts";
import { createContentHash } from "./export.ts";
import { agentLease, isContextId, LEAD_AGENT } from "./listing.ts";
import { damagedFile, FORMAT, type Placed, readLines } from "./portable-lines.ts";
import { checkImport } from "./settings.ts";
import { importedEvent } from "./start.ts";

const BATCH_EVENTS = 500;
const BATCH_BYTES = 8 << 20;
const CHUNK = 1 << 20;

export interface ImportReport {
  id: string;
  /** The id it had where it was exported; another one is given when that is taken here. */
  from: string;
  events: number;
  blobs: number;
  hash: string;
}

export interface ImportOptions {
  /** The tree that its agents work in. What the file says does not count: it may name any folder. Default: that of the harness that runs them. */
  root?: string;
}

interface Header {
  id: string;
  events: Seq;
  summary: unknown;
}

/** Contract: refuses damage by line and byte before anything is written; overwrites nothing. */
export async function importContext(store: Store, file: string, opts: ImportOptions = {}): Promise<ImportReport> {
  checkImport(opts);
  const named = opts.root === undefined ? {} : { root: resolve(opts.root) };
  const checked = await walk(file, {});
  const { header } = checked;
  const taken = (await store.head(header.id)) > 0;
  const id = taken ? newId("ctx") : header.id;
  const lease = await store.leases.acquire(agentLease(id, LEAD_AGENT));
  if ("held" in lease) throw new HoldfastError("held", `${id} is just being imported by ${holderText(lease.held)}`);
  try {
    let events: EventInput[] = [];
    let blobs: Uint8Array[] = [];
    let bytes = 0;
    const flush = async (summary: unknown) => {
      if (events.length > 0) await store.append([{ ledger: id, events, summary }], { blobs });
      events = [];
      blobs = [];
      bytes = 0;
    };
    const again = await walk(file, {
      blob(one) {
        blobs.push(one);
        bytes += one.length;
      },
      async event({ seq, ...event }) {
        events.push(event);
        const last = seq === header.events;
        if (!last && (events.length >= BATCH_EVENTS || bytes >= BATCH_BYTES)) await flush({ importing: true });
      },
    });
    if (again.hash !== checked.hash)
      throw new HoldfastError("damaged", `${file} changed while it was read: import it again`);
    const { importing: _, ...summary } = isRecord(header.summary) ? header.summary : {};
    events.push(importedEvent({ context: header.id, events: header.events, ...named }));
    await flush({ ...summary, root: named.root ?? "", open: false, busy: [], work: false, importing: null });
    return { id, from: header.id, events: header.events, blobs: checked.blobs, hash: checked.hash };
  } catch (error) {
    await store.remove(id).catch(() => {}); // half an import is none; a killed one is swept by gc
    throw error;
  } finally {
    await lease.release();
  }
}

interface Takers {
  blob?: (bytes: Uint8Array) => void;
  event?: (event: EventInput & { seq: Seq }) => Promise<void>;
}

async function walk(file: string, takers: Takers): Promise<{ header: Header; blobs: number; hash: string }> {
  let header: Header | undefined;
  let seq = 0;
  let blobs = 0;
  let hash: string | undefined;
  let parts: Uint8Array[] = [];
  const content = createContentHash();
  for await (const { value, place } of readLines(file)) {
    if (!header) {
      if (!("holdfast" in value)) throw damagedFile(file, place, "this is not the beginning of an exported context");
      if (value.format > FORMAT)
        throw new HoldfastError("upgrade", `${file} was written by a newer Holdfast: upgrade to import it`);
      if (!isContextId(value.id)) throw damagedFile(file, place, `${value.id} is not the id of a context`);
      header = value;
    } else if ("blob" in value) {
      parts.push(unpack(file, place, value.data));
      if (value.part !== parts.length - 1) throw damagedFile(file, place, "a part of a blob is missing");
      if (parts.length < value.parts) continue;
      const [first, ...more] = parts;
      const bytes = first && more.length === 0 ? first : Buffer.concat(parts);
      parts = [];
      if (blobHash(bytes) !== value.blob) throw damagedFile(file, place, "a blob does not match its name");
      blobs++;
      takers.blob?.(bytes);
    } else if ("event" in value) {
      if (value.event.seq !== ++seq) throw damagedFile(file, place, `event ${seq} is missing`);
      content.add(value.event);
      await takers.event?.(value.event);
    } else if ("end" in value) {
      hash = content.digest();
      if (value.hash !== hash || value.events !== seq || seq !== header.events)
        throw damagedFile(file, place, "what was counted at the end is not what came");
    }
  }
  if (!header || hash === undefined || seq === 0) throw damagedFile(file, { line: 2, byte: 0 }, "it holds no events");
  return { header, blobs, hash };
}

function unpack(file: string, place: Placed, data: string): Uint8Array {
  try {
    return zstdDecompressSync(Buffer.from(data, "base64"), { maxOutputLength: CHUNK });
  } catch {
    throw damagedFile(file, place, "a blob cannot be unpacked");
  }
}
