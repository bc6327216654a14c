// Salvage: what a damaged database file still proves. Every row verifies itself; SQLite is not asked.

import { type BlobPart, joinParts } from "./blob-parts.ts";
import { type Row, sameBytes } from "./checksum.ts";
import { type Cell, columns, findCells, type Shape } from "./salvage-cells.ts";
import { chain, type Evidence, ledgerNameOf, type SalvagedLedger } from "./salvage-chain.ts";
import { openPages, type PagePlace, type Pages } from "./salvage-pages.ts";
import type { Copied } from "./sqlite/copy-lines.ts";
import { type LedgerRow, ledgerSum } from "./sqlite/rows.ts";
import { KEY_SPAN, PAGE_SIZE } from "./sqlite/schema.ts";
import type { Head } from "./sqlite/sidecar.ts";
import type { Seq } from "./store.ts";

export interface Salvage {
  ledgers: Map<string, SalvagedLedger>;
  blobs: string[];
  blob(hash: string): Uint8Array | undefined;
  close(): void;
}

const EVENTS = 0;
const LEDGERS = 1;
const BLOBS = 2;
const SUM = { blob: 16 } as const;
const HASH = { blob: 32 } as const;
const EVENT = ["null", "text?", "text", "int", "text", "int", "text", "text?", "text", SUM] as const;
const LEDGER = ["null", "text", "int", SUM, "int", "int", "text", "int", "int", SUM] as const;
const BLOB = ["null", HASH, "int", "int", "int", "blob"] as const;
const SHAPES: { table: number; shape: readonly Shape[] }[] = [
  { table: EVENTS, shape: EVENT },
  { table: LEDGERS, shape: LEDGER },
  // With the mark of its references, or room for one.
  { table: LEDGERS, shape: [...LEDGER, "null"] },
  { table: LEDGERS, shape: [...LEDGER, HASH] },
  { table: BLOBS, shape: BLOB },
];
/** How many mixtures of old and new overflow pages are tried for one record. */
const TRIES = 6;

interface Found extends Evidence {
  blobs: Map<string, { where: PagePlace; cell: Cell }[]>;
}

export function salvage(file: string, heads: Map<number, Head>, copies: Iterable<Copied>): Salvage {
  const pages = openPages(file);
  const found = scan(pages);
  addCopies(found, copies);
  const ledgers = new Map<string, SalvagedLedger>();
  for (const n of [...new Set([...found.events.keys(), ...found.entries.keys(), ...heads.keys()])].sort(
    (a, b) => a - b,
  )) {
    if (heads.get(n)?.removed || found.entries.get(n)?.removed) continue;
    const ledger = chain(n, found, heads.get(n));
    if (ledger) ledgers.set(ledger.name, ledger);
  }
  return {
    ledgers,
    blobs: [...found.blobs.keys()],
    blob: (hash) => joinFound(pages, hash, found.blobs.get(hash) ?? []),
    close: () => pages.close(),
  };
}

/** Of several names in one copy the last one counts first: another store had that number before. */
function addCopies(found: Found, copies: Iterable<Copied>): void {
  const names = new Map<number, string[]>();
  for (const { n, name, row, summary } of copies) {
    if (row && addRow(found, { n, row })) found.copied.add(row);
    if (name !== undefined) names.set(n, [name, ...(names.get(n) ?? []).filter((one) => one !== name)]);
    if (summary && !found.summaries.get(n)?.push(summary)) found.summaries.set(n, [summary]);
  }
  for (const [n, list] of names) for (const name of list) ledgerNameOf(found, n).add(name);
}

function scan(pages: Pages): Found {
  const found: Found = {
    events: new Map(),
    names: new Map(),
    entries: new Map(),
    blobs: new Map(),
    copied: new Set(),
    summaries: new Map(),
  };
  pages.each((page, where) =>
    findCells(page, SHAPES, (table, cell) => {
      if (table === BLOBS) {
        const hash = page.toString("hex", cell.at + cell.header, cell.at + cell.header + 32);
        const list = found.blobs.get(hash);
        if (list) list.push({ where, cell });
        else found.blobs.set(hash, [{ where, cell }]);
        return;
      }
      for (const payload of payloads(pages, page, cell)) {
        if (table === EVENTS) addEvent(found, cell, payload);
        else addEntry(found, cell, payload);
      }
    }),
  );
  return found;
}

function addEvent(found: Found, cell: Cell, payload: Buffer): void {
  const n = Math.floor(cell.rowid / KEY_SPAN);
  const seq = cell.rowid % KEY_SPAN;
  if (n < 1 || seq < 1) return;
  const [, name, id, at, type, v, actor, touches, data, sum] = columns<typeof EVENT>(cell, payload);
  const row: Row = { seq, id, at, type, v, actor, touches, data, sum };
  addRow(found, { n, ...(name !== null && { name }), row });
}

/** Contract: false when the same row is already there. */
function addRow(found: Found, { n, name, row }: { n: number; name?: string; row: Row }): boolean {
  const ledger = found.events.get(n) ?? new Map<Seq, Row[]>();
  found.events.set(n, ledger);
  const known = ledger.get(row.seq);
  if (known?.some((other) => sameRow(other, row))) return false;
  if (known) known.push(row);
  else ledger.set(row.seq, [row]);
  if (name !== undefined && row.seq === 1) ledgerNameOf(found, n).add(name);
  return true;
}

function addEntry(found: Found, cell: Cell, payload: Buffer): void {
  const [, name, head, hash, created_at, updated_at, summary, min_writer, removed, sum] = columns<typeof LEDGER>(
    cell,
    payload,
  );
  const entry: LedgerRow = {
    n: cell.rowid,
    name,
    head,
    hash,
    created_at,
    updated_at,
    summary,
    min_writer,
    removed,
    sum,
  };
  if (!sameBytes(entry.sum, ledgerSum(entry))) return;
  ledgerNameOf(found, entry.n).add(entry.name);
  const known = found.entries.get(entry.n);
  if (!known || rank(entry, known) >= 0) found.entries.set(entry.n, entry);
}

/** A ledger only grows, until it is removed. */
function rank(a: LedgerRow, b: LedgerRow): number {
  return a.removed - b.removed || a.head - b.head || a.updated_at - b.updated_at;
}

/** The record's bytes; several when overflow pages exist in several versions and only a checksum can tell. */
function* payloads(pages: Pages, page: Buffer, cell: Cell): Generator<Buffer> {
  const local = page.subarray(cell.at, cell.at + cell.local);
  if (cell.overflow === 0) {
    if (cell.local === cell.size) yield local;
    return;
  }
  for (let age = 0; age < TRIES; age++) {
    const parts = [local];
    let left = cell.size - cell.local;
    let deeper = false;
    for (let pgno = cell.overflow; left > 0; ) {
      const versions = pages.versions(pgno);
      const version = versions.at(Math.min(age, versions.length - 1));
      if (version === undefined) return;
      if (versions.length > age + 1) deeper = true;
      const next = pages.read(version);
      if (next.length < 4) return;
      parts.push(next.subarray(4, Math.min(next.length, 4 + left)));
      left -= PAGE_SIZE - 4;
      pgno = next.readUInt32BE(0);
    }
    const payload = Buffer.concat(parts);
    if (payload.length === cell.size) yield payload;
    if (!deeper) return;
  }
}

function joinFound(pages: Pages, hash: string, cells: { where: PagePlace; cell: Cell }[]): Uint8Array | undefined {
  const byPart = new Map<number, BlobPart[]>();
  for (const { where, cell } of cells) {
    for (const payload of payloads(pages, pages.read(where), cell)) {
      const [, , part, parts, codec, data] = columns<typeof BLOB>(cell, payload);
      const list = byPart.get(part);
      if (list) list.push({ part, parts, codec, data });
      else byPart.set(part, [{ part, parts, codec, data }]);
    }
  }
  const lists = [...byPart].sort(([a], [b]) => a - b).map(([, list]) => list);
  const most = Math.max(0, ...lists.map((list) => list.length));
  for (let i = 0; i < most; i++) {
    const whole = joinParts(
      hash,
      lists.flatMap((list) => list.at(Math.min(i, list.length - 1)) ?? []),
    );
    if (whole) return whole;
  }
  return undefined;
}

function sameRow(a: Row, b: Row): boolean {
  return (
    a.id === b.id &&
    a.at === b.at &&
    a.type === b.type &&
    a.v === b.v &&
    a.actor === b.actor &&
    a.touches === b.touches &&
    a.data === b.data &&
    sameBytes(a.sum, b.sum)
  );
}
