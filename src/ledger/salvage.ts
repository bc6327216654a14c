// Owns salvage: what a damaged database file still proves. Every row verifies itself; SQLite is not asked.
import { eventSum, genesis, type Row, sameBytes } from "./checksum.ts";
import { type Cell, columns, findCells, type Shape } from "./salvage-cells.ts";
import { openPages, type Pages, type Where } from "./salvage-pages.ts";
import { type BlobPart, joinParts } from "./sqlite/blobs.ts";
import type { Copied } from "./sqlite/copies.ts";
import { type LedgerRow, ledgerSum } from "./sqlite/rows.ts";
import { KEY_SPAN, PAGE_SIZE } from "./sqlite/schema.ts";
import type { Head } from "./sqlite/sidecar.ts";
import type { Damage, Seq } from "./store.ts";

export interface SalvagedLedger {
  n: number;
  name: string;
  /** Where it should end, as far as anything still says. */
  head: Seq;
  /** The unbroken chain from the first event on. */
  rows: Row[];
  /** How many of them, from the first on, the pages hold themselves. */
  inPages: number;
  /** What was found behind the break; each of these follows its predecessor, or has none left. */
  behind: Row[];
  /** JSON text: by its entry in the list of ledgers, or by its second copy where that is newer. */
  summary: string;
  /** Its entry in the list of ledgers, where one verifies. */
  entry?: LedgerRow;
  damage?: Damage;
}

export interface Salvage {
  ledgers: Map<string, SalvagedLedger>;
  blobs: string[];
  blob(hash: string): Uint8Array | undefined;
  close(): void;
}

const EVENTS = 0;
const LEDGERS = 1;
const BLOBS = 2;
const SHAPES: { table: number; shape: Shape[] }[] = [
  { table: EVENTS, shape: ["null", "text?", "text", "int", "text", "int", "text", "text?", "text", { blob: 16 }] },
  { table: LEDGERS, shape: ["null", "text", "int", { blob: 16 }, "int", "int", "text", "int", "int", { blob: 16 }] },
  { table: BLOBS, shape: ["null", { blob: 32 }, "int", "int", "int", "blob"] },
];
/** How many mixtures of old and new overflow pages are tried for one record. */
const TRIES = 6;

interface Found {
  events: Map<number, Map<Seq, Row[]>>;
  names: Map<number, Set<string>>;
  entries: Map<number, LedgerRow>;
  blobs: Map<string, { where: Where; cell: Cell }[]>;
  /** Rows that no page holds, only the second copy. */
  copied: Set<Row>;
  summaries: Map<number, NonNullable<Copied["summary"]>>;
}

export function salvage(file: string, heads: Map<number, Head>, copies: Iterable<Copied>): Salvage {
  const pages = openPages(file);
  const found = scan(pages);
  for (const { n, name, row, summary } of copies) {
    if (row && addRow(found, { n, name, row })) found.copied.add(row);
    if (summary && summary.of >= (found.summaries.get(n)?.of ?? 0)) found.summaries.set(n, summary);
  }
  for (const head of heads.values()) nameOf(found, head.n).add(head.name);
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
  const [, name, id, at, type, v, actor, touches, data, sum] = columns(cell, payload);
  const row = { seq, id, at, type, v, actor, touches, data, sum } as Row;
  addRow(found, { n, ...(name !== null && { name: name as string }), row });
}

/** Contract: false when the same row is already there. */
function addRow(found: Found, { n, name, row }: { n: number; name?: string; row: Row }): boolean {
  const ledger = found.events.get(n) ?? new Map<Seq, Row[]>();
  found.events.set(n, ledger);
  const known = ledger.get(row.seq);
  if (known?.some((other) => sameRow(other, row))) return false;
  if (known) known.push(row);
  else ledger.set(row.seq, [row]);
  if (name !== undefined && row.seq === 1) nameOf(found, n).add(name);
  return true;
}

function addEntry(found: Found, cell: Cell, payload: Buffer): void {
  const [, name, head, hash, created_at, updated_at, summary, min_writer, removed, sum] = columns(cell, payload);
  const entry = {
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
  } as LedgerRow;
  if (!sameBytes(entry.sum, ledgerSum(entry))) return;
  nameOf(found, entry.n).add(entry.name);
  const known = found.entries.get(entry.n);
  if (!known || rank(entry, known) >= 0) found.entries.set(entry.n, entry);
}

/** A ledger only grows, until it is removed. */
function rank(a: LedgerRow, b: LedgerRow): number {
  return a.removed - b.removed || a.head - b.head || a.updated_at - b.updated_at;
}

/** The best chain of ledger n: the one that passes through the head the sidecar knows, else the longest. */
function chain(n: number, found: Found, head: Head | undefined): SalvagedLedger | undefined {
  const events = found.events.get(n) ?? new Map<Seq, Row[]>();
  const entry = found.entries.get(n);
  let best: { name: string; rows: Row[]; known: boolean } | undefined;
  for (const name of nameOf(found, n)) {
    for (const rows of follow(events, genesis(n, name), 0)) {
      const known = head !== undefined && head.seq > 0 && sameBytes(rows[head.seq - 1]?.sum, head.sum);
      if (!best || Number(known) - Number(best.known) > 0 || (known === best.known && rows.length > best.rows.length))
        best = { name, rows, known };
    }
  }
  const name = entry?.name ?? head?.name ?? best?.name ?? `unknown-${n}`;
  const rows = best?.name === name ? best.rows : [];
  const should = Math.max(head?.seq ?? 0, entry?.head ?? 0, rows.length);
  const behind = behindBreak(events, rows.length);
  // Nothing proves that rows without a name, a head and a chain ever belonged to a ledger.
  if (rows.length === 0 && !entry && !head && behind.length === 0) return undefined;
  const lost = should > rows.length || (!entry && !head && behind.length > 0);
  return {
    n,
    name,
    head: Math.max(should, rows.length),
    rows,
    inPages: (rows.findIndex((row) => found.copied.has(row)) + 1 || rows.length + 1) - 1,
    behind: lost ? behind : [],
    summary: summaryOf(entry, found.summaries.get(n)),
    ...(entry && { entry }),
    ...(lost && { damage: { ledger: name, seq: rows.length + 1, what: "the event is missing or fails its checksum" } }),
  };
}

function summaryOf(entry: LedgerRow | undefined, copied: Copied["summary"]): string {
  const newer = copied !== undefined && (!entry || copied.of > entry.head);
  return newer ? copied.text : (entry?.summary ?? "null");
}

function* follow(events: Map<Seq, Row[]>, previous: Uint8Array, after: Seq): Generator<Row[]> {
  const rows: Row[] = [];
  for (let seq = after + 1; ; seq++) {
    const next = (events.get(seq) ?? []).filter((row) => sameBytes(row.sum, eventSum(previous, row)));
    if (next.length === 0) break;
    if (next.length > 1) {
      // A write that never was committed left its traces beside the one that was.
      for (const one of next) for (const tail of follow(events, one.sum, seq)) yield [...rows, one, ...tail];
      return;
    }
    rows.push(next[0]!);
    previous = next[0]!.sum;
  }
  yield rows;
}

function behindBreak(events: Map<Seq, Row[]>, after: Seq): Row[] {
  const rows: Row[] = [];
  for (const seq of [...events.keys()].filter((one) => one > after).sort((a, b) => a - b)) {
    const before = rows.at(-1);
    const candidates = events.get(seq)!;
    const proven =
      before?.seq === seq - 1 ? candidates.find((row) => sameBytes(row.sum, eventSum(before.sum, row))) : undefined;
    rows.push(proven ?? candidates[0]!);
  }
  return rows;
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
      if (versions.length === 0) return;
      if (versions.length > age + 1) deeper = true;
      const next = pages.read(versions[Math.min(age, versions.length - 1)]!);
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

function joinFound(pages: Pages, hash: string, cells: { where: Where; cell: Cell }[]): Uint8Array | undefined {
  const byPart = new Map<number, BlobPart[]>();
  for (const { where, cell } of cells) {
    for (const payload of payloads(pages, pages.read(where), cell)) {
      const [, , part, parts, codec, data] = columns(cell, payload) as [
        null,
        Uint8Array,
        number,
        number,
        number,
        Uint8Array,
      ];
      const list = byPart.get(part);
      if (list) list.push({ part, parts, codec, data });
      else byPart.set(part, [{ part, parts, codec, data }]);
    }
  }
  const order = [...byPart.keys()].sort((a, b) => a - b);
  const most = Math.max(0, ...[...byPart.values()].map((list) => list.length));
  for (let i = 0; i < most; i++) {
    const whole = joinParts(
      hash,
      order.map((part) => byPart.get(part)!).map((list) => list[Math.min(i, list.length - 1)]!),
    );
    if (whole) return whole;
  }
  return undefined;
}

function nameOf(found: Found, n: number): Set<string> {
  const names = found.names.get(n) ?? new Set<string>();
  found.names.set(n, names);
  return names;
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
