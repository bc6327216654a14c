// The raw format: finds records of known tables in the bytes of pages, trusting none of SQLite's own pointers.
import { PAGE_SIZE } from "./sqlite/schema.ts";

/** One column as it must look for a record to be taken for a row of a table. */
export type Shape = "null" | "text" | "text?" | "int" | "blob" | { blob: number };

export interface Cell {
  rowid: number;
  /** Length of the record; its first `local` bytes stand in the page at `at`, the rest in a chain of pages from `overflow`. */
  size: number;
  at: number;
  local: number;
  overflow: number;
  header: number;
  serials: number[];
}

/** Local payload of a table leaf, as the file format defines it (no reserved bytes). */
const MAX_LOCAL = PAGE_SIZE - 35;
const MIN_LOCAL = Math.floor(((PAGE_SIZE - 12) * 32) / 255) - 23;

/**
 * Tries every byte of a page as the start of a cell. A record is told by its shape: number and kinds of columns, and a
 * length that adds up; whether its content is true is decided later, by checksum.
 */
export function findCells(
  page: Buffer,
  shapes: readonly { table: number; shape: readonly Shape[] }[],
  found: (table: number, cell: Cell) => void,
): void {
  for (let start = 0; start + 4 < page.length; start++) {
    if (page[start]! < 8) continue; // no row of ours is that short
    const size = varint(page, start);
    if (size < 0 || size > 1 << 30) continue;
    const rowid = varint(page, after);
    if (rowid <= 0) continue;
    const at = after;
    const header = page[at];
    // The first column is the rowid itself, stored as NULL; a header has a byte or few for each column.
    if (header === undefined || header < 6 || header > 60 || page[at + 1] !== 0) continue;
    const serials = serialTypes(page, at, header);
    if (!serials) continue;
    let length = header;
    for (const serial of serials) length += serialSize(serial);
    if (length !== size) continue;
    for (const { table, shape } of shapes) {
      if (!fits(serials, shape)) continue;
      const cell = place(page, at, size);
      if (cell) found(table, { ...cell, rowid, header, serials });
    }
  }
}

function place(page: Buffer, at: number, size: number): Pick<Cell, "size" | "at" | "local" | "overflow"> | undefined {
  if (size <= MAX_LOCAL) return at + size <= page.length ? { size, at, local: size, overflow: 0 } : undefined;
  const rest = MIN_LOCAL + ((size - MIN_LOCAL) % (PAGE_SIZE - 4));
  const local = rest <= MAX_LOCAL ? rest : MIN_LOCAL;
  if (at + local + 4 > page.length) return undefined;
  return { size, at, local, overflow: page.readUInt32BE(at + local) };
}

function serialTypes(page: Buffer, at: number, header: number): number[] | undefined {
  const end = at + header;
  if (end > page.length) return undefined;
  const serials: number[] = [];
  let next = at + 1;
  while (next < end) {
    const serial = varint(page, next);
    if (serial < 0 || serial === 10 || serial === 11) return undefined;
    serials.push(serial);
    next = after;
  }
  return next === end ? serials : undefined;
}

function fits(serials: number[], shape: readonly Shape[]): boolean {
  if (serials.length !== shape.length) return false;
  return shape.every((kind, i) => {
    const serial = serials[i];
    if (serial === undefined) return false;
    if (kind === "null") return serial === 0;
    if (kind === "text") return serial >= 13 && serial % 2 === 1;
    if (kind === "text?") return serial === 0 || (serial >= 13 && serial % 2 === 1);
    if (kind === "int") return (serial >= 1 && serial <= 6) || serial === 8 || serial === 9;
    if (kind === "blob") return serial >= 12 && serial % 2 === 0;
    return serial === kind.blob * 2 + 12;
  });
}

type Column<S> = S extends "null"
  ? null
  : S extends "text"
    ? string
    : S extends "text?"
      ? string | null
      : S extends "int"
        ? number
        : Uint8Array;
type Columns<S extends readonly Shape[]> = { -readonly [K in keyof S]: Column<S[K]> };

/** Contract: the record was found by that shape, or by one that begins so. */
export function columns<S extends readonly Shape[]>(cell: Cell, payload: Buffer): Columns<S> {
  return valuesOf(cell, payload) as Columns<S>;
}

function valuesOf(cell: Cell, payload: Buffer): unknown[] {
  let at = cell.header;
  return cell.serials.map((serial) => {
    const size = serialSize(serial);
    const bytes = payload.subarray(at, at + size);
    at += size;
    if (serial === 0) return null;
    if (serial === 8) return 0;
    if (serial === 9) return 1;
    if (serial === 6) return Number(bytes.readBigInt64BE());
    if (serial < 6) return bytes.readIntBE(0, size);
    return serial % 2 ? bytes.toString("utf8") : Uint8Array.from(bytes);
  });
}

const INT_SIZE = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const;

function serialSize(serial: number): number {
  return INT_SIZE[serial] ?? (serial - 12 - (serial % 2)) / 2;
}

/** Where the varint that was read last ends: one number instead of an object for every byte of a file. */
let after = 0;

/** -1 when there is none, or none that a key or length of ours could be. */
function varint(bytes: Buffer, at: number): number {
  let value = 0;
  for (let i = 0; i < 8; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return -1;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      after = at + i + 1;
      return value <= Number.MAX_SAFE_INTEGER ? value : -1;
    }
  }
  return -1;
}
