// The second copy of every event: a text file for each ledger beside the database, read only when the database is damaged.
import { closeSync, constants, fstatSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { genesis, type Row, sameBytes } from "../checksum.ts";
import { makeDir } from "../make-dir.ts";
import type { Seq } from "../store.ts";
import type { Advanced } from "./append.ts";
import type { Connection } from "./connection.ts";
import { type Copied, copiedIn, eventLine, lineEnd, linesOf, summaryLine } from "./copy-lines.ts";
import { eventRows, follows, type LedgerEntry, sumAt } from "./rows.ts";

export interface Copies {
  /** Contract: after the commit; never fails it; no fsync. What a killed process left out is made up for by the next one. */
  put(advanced: Advanced): void;
  remove(n: number): void;
  close(): void;
}

interface OpenCopy {
  fd: number;
  /** The event that this process knows to stand at the end, when the file is that long. */
  last: Seq;
  size: number;
}

const APPEND = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;
/** What was left out is made up for up to so many events; a longer gap stays, and only makes the copy worth less. */
const GAP = 1_000;
const OPEN_FILES = 64;
/** Written at once. */
const CHUNK = 1 << 20;

export function openCopies(file: string, db: Connection): Copies {
  const folder = folderOf(file);
  const open = new Map<number, OpenCopy>();

  /** Undefined when the ledger was removed since: its copy must not come back. */
  function opened(n: number): { one: OpenCopy; size: number } | undefined {
    const known = open.get(n);
    const stat = known && fstatSync(known.fd);
    if (stat && stat.nlink > 0) return { one: known, size: stat.size };
    forget(n);
    const [oldest] = open.keys();
    if (oldest !== undefined && open.size >= OPEN_FILES) forget(oldest);
    makeDir(folder);
    const fd = openSync(pathOf(file, n), APPEND, 0o600);
    const one = { fd, last: -1, size: -1 };
    let live = false;
    try {
      // Asked after the file is there: whoever removes the ledger later removes this file too.
      live = db.get("SELECT n FROM ledgers WHERE n = ? AND removed = 0", n) !== undefined;
    } finally {
      if (!live) closeSync(fd);
    }
    if (live) open.set(n, one);
    else rmSync(pathOf(file, n), { force: true });
    return live ? { one, size: fstatSync(fd).size } : undefined;
  }

  function forget(n: number): void {
    const one = open.get(n);
    open.delete(n);
    if (one) closeSync(one.fd);
  }

  return {
    put({ row: ledger, events, summarised }) {
      try {
        const found = opened(ledger.n);
        if (!found) return;
        const { one, size } = found;
        const first = ledger.head - events.length + 1;
        const known = one.last === first - 1 && one.size === size;
        const end = known ? undefined : lineEnd(one.fd, size);
        const missing = end ? leftOut(db, ledger, { last: end.last, first }) : [];
        one.last = -1; // a line that was cut off must not be continued
        one.size = size + write(one.fd, linesFor(ledger, { whole: end?.whole ?? true, missing, events, summarised }));
        one.last = ledger.head;
      } catch {}
    },
    remove(n) {
      try {
        forget(n);
        rmSync(pathOf(file, n), { force: true });
      } catch {}
    },
    close() {
      for (const n of [...open.keys()]) forget(n);
    },
  };
}

/** Events before `first` that the copy lacks. A last line that is not of this ledger says nothing: then they all count. */
function leftOut(db: Connection, ledger: LedgerEntry, { last, first }: { last?: Row | undefined; first: Seq }): Row[] {
  const from = last && sameBytes(sumAt(db, ledger, last.seq), last.sum) ? last.seq + 1 : 1;
  return from < first && first - from < GAP ? eventRows(db, ledger.n, { from, to: first - 1, limit: GAP }) : [];
}

function* linesFor(
  ledger: LedgerEntry,
  { whole, missing, events, summarised }: { whole: boolean; missing: Row[] } & Omit<Advanced, "row">,
): Generator<string> {
  if (!whole) yield "\n";
  for (const rows of [missing, events]) for (const row of rows) yield eventLine(ledger.name, row);
  if (summarised || missing.length > 0) yield summaryLine(ledger);
}

/** How many bytes. A full disk may take a part of them and say nothing. */
function write(fd: number, lines: Iterable<string>): number {
  let written = 0;
  let text = "";
  const flush = () => {
    const bytes = writeSync(fd, text);
    if (bytes < Buffer.byteLength(text)) throw new Error("cut off");
    written += bytes;
    text = "";
  };
  for (const line of lines) {
    text += line;
    if (text.length > CHUNK) flush();
  }
  if (text !== "") flush();
  return written;
}

/** Does any copy lie beside that file? */
export function hasCopies(file: string): boolean {
  return numbers(file).length > 0;
}

/** Every line of every copy, as far as it can be read. No event is proven yet. */
export function* readCopies(file: string): Generator<Copied> {
  for (const n of numbers(file)) yield* readCopy(file, n);
}

/** The whole of a ledger by its copy alone, from the head back: undefined unless the chain holds to the first event. */
export function provenCopy(
  file: string,
  ledger: { n: number; name: string; head: Seq; hash: Uint8Array },
): Row[] | undefined {
  const bySeq = new Map<Seq, Row[]>();
  for (const { row } of readCopy(file, ledger.n)) {
    const same = row && bySeq.get(row.seq);
    if (same) same.push(row);
    else if (row) bySeq.set(row.seq, [row]);
  }
  const rows: Row[] = [];
  let sum = ledger.hash;
  for (let seq = ledger.head; seq > 0; seq--) {
    const before = seq === 1 ? [genesis(ledger.n, ledger.name)] : (bySeq.get(seq - 1) ?? []).map((row) => row.sum);
    const candidates = (bySeq.get(seq) ?? []).filter((row) => sameBytes(row.sum, sum));
    const link = before
      .flatMap((previous) => candidates.map((row) => ({ previous, row })))
      .find(({ previous, row }) => follows(previous, row));
    if (!link) return undefined;
    rows.push(link.row);
    sum = link.previous;
  }
  return rows.reverse();
}

/** Removes the copies of ledgers that are no more: a process may have been killed before it came to it. */
export async function sweepCopies(file: string, all: () => Promise<{ n: number; removed: number }[]>): Promise<void> {
  const there = numbers(file); // first: a ledger that begins meanwhile is not among them
  if (there.length === 0) return;
  const kept = new Set((await all()).filter((row) => !row.removed).map((row) => row.n));
  for (const n of there.filter((one) => !kept.has(one))) {
    try {
      rmSync(pathOf(file, n), { force: true });
    } catch {}
  }
}

function folderOf(file: string): string {
  return `${file}.copies`;
}

function pathOf(file: string, n: number): string {
  return join(folderOf(file), `${n}.jsonl`);
}

/** The ledgers that have a copy, by their numbers. */
function numbers(file: string): number[] {
  try {
    const names = readdirSync(folderOf(file)).map((entry) => /^([1-9]\d{0,9})\.jsonl$/.exec(entry)?.[1]);
    return names.filter((one) => one !== undefined).map(Number);
  } catch {
    return [];
  }
}

function* readCopy(file: string, n: number): Generator<Copied> {
  for (const line of linesOf(pathOf(file, n))) {
    const one = copiedIn(line, n);
    if (one) yield one;
  }
}
