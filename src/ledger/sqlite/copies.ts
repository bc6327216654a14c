// Owns the second copy of every event: a text file for each ledger beside the database, read only when the database is damaged.
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { genesis, hex, type Row } from "../checksum.ts";
import type { Seq } from "../store.ts";
import type { Connection } from "./connection.ts";
import { eventRows, follows } from "./rows.ts";

export interface Copies {
  /** Contract: after the commit; never fails it; no fsync. What a killed process left out is made up for by the next one. */
  put(ledger: { n: number; name: string }, rows: Row[]): void;
  remove(n: number): void;
  close(): void;
}

export interface CopiedRow {
  n: number;
  /** On the first event of a ledger. */
  name?: string;
  row: Row;
}

const APPEND = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;
/** Where the last line is looked for. */
const TAIL = 16 << 10;
/** What was left out is made up for up to so many events; a longer gap stays, and only makes the copy worth less. */
const GAP = 1_000;
const OPEN_FILES = 64;

export function openCopies(file: string, db: Connection): Copies {
  const folder = folderOf(file);
  /** `last`: the event that this process knows to stand at the end. */
  const open = new Map<number, { fd: number; last: Seq }>();

  function opened(n: number) {
    const known = open.get(n);
    if (known) return known;
    if (open.size >= OPEN_FILES) forget(open.keys().next().value!);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const one = { fd: openSync(pathOf(file, n), APPEND, 0o600), last: -1 };
    open.set(n, one);
    return one;
  }

  function forget(n: number): void {
    const one = open.get(n);
    open.delete(n);
    if (one) closeSync(one.fd);
  }

  return {
    put(ledger, rows) {
      try {
        const one = opened(ledger.n);
        const first = rows[0]!.seq;
        let text = "";
        if (one.last !== first - 1) {
          const end = endOf(one.fd);
          if (!end.whole) text = "\n";
          const gap = { from: end.last + 1, to: first - 1, limit: GAP };
          if (gap.to >= gap.from && gap.to - gap.from < GAP)
            for (const row of eventRows(db, ledger.n, gap)) text += lineOf(ledger.name, row);
        }
        for (const row of rows) text += lineOf(ledger.name, row);
        one.last = -1; // a line that was cut off must not be continued
        writeSync(one.fd, text);
        one.last = rows.at(-1)!.seq;
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

/** Does any copy lie beside that file? */
export function hasCopies(file: string): boolean {
  return existsSync(folderOf(file));
}

/** Every event of every copy, as far as it can be read; nothing is proven yet. */
export function* readCopies(file: string): Generator<CopiedRow> {
  if (!hasCopies(file)) return;
  for (const entry of readdirSync(folderOf(file))) {
    const n = Number(/^(\d+)\.jsonl$/.exec(entry)?.[1] ?? 0);
    if (n > 0) yield* readCopy(file, n);
  }
}

/** The whole of a ledger by its copy alone: undefined unless the chain holds from the first event to the head. */
export function provenCopy(
  file: string,
  ledger: { n: number; name: string; head: Seq; hash: Uint8Array },
): Row[] | undefined {
  const bySeq = new Map<Seq, Row[]>();
  for (const { row } of readCopy(file, ledger.n)) bySeq.set(row.seq, [...(bySeq.get(row.seq) ?? []), row]);
  const rows: Row[] = [];
  let previous = genesis(ledger.n, ledger.name);
  for (let seq = 1; seq <= ledger.head; seq++) {
    const next = bySeq.get(seq)?.find((row) => follows(previous, row));
    if (!next) return undefined;
    rows.push(next);
    previous = next.sum;
  }
  return hex(previous) === hex(ledger.hash) ? rows : undefined;
}

/** Removes the copies of ledgers that are no more: a process may have been killed before it came to it. */
export async function sweepCopies(file: string, all: () => Promise<{ n: number; removed: number }[]>): Promise<void> {
  if (!hasCopies(file)) return;
  const there = readdirSync(folderOf(file)); // first: a ledger that begins meanwhile is not among them
  const kept = new Set((await all()).filter((row) => !row.removed).map((row) => `${row.n}.jsonl`));
  for (const entry of there) if (!kept.has(entry)) rmSync(join(folderOf(file), entry), { force: true });
}

function folderOf(file: string): string {
  return `${file}.copies`;
}

function pathOf(file: string, n: number): string {
  return join(folderOf(file), `${n}.jsonl`);
}

/** Data comes last, and exactly as it is stored: the checksum is over that text. */
function lineOf(name: string, row: Row): string {
  const { seq, id, at, type, v, actor, touches } = row;
  const head = JSON.stringify({ seq, ...(seq === 1 && { name }), id, at, type, v, actor, sum: hex(row.sum) });
  return `${head.slice(0, -1)},"touches":${touches},"data":${row.data}}\n`;
}

function* readCopy(file: string, n: number): Generator<CopiedRow> {
  const path = pathOf(file, n);
  if (!existsSync(path)) return;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const one = parseLine(line);
    if (one) yield { n, ...one };
  }
}

function parseLine(line: string): { name?: string; row: Row } | undefined {
  // No text inside the line can hold this: its quotes would be escaped.
  const at = line.indexOf(',"data":');
  if (at < 0 || !line.endsWith("}")) return undefined;
  try {
    const { name, touches, sum, ...rest } = JSON.parse(`${line.slice(0, at)}}`);
    const row = {
      ...rest,
      touches: touches === null ? null : JSON.stringify(touches),
      data: line.slice(at + ',"data":'.length, -1),
      sum: Buffer.from(sum, "hex"),
    } as Row;
    return Number.isSafeInteger(row.seq) ? { row, ...(name !== undefined && { name }) } : undefined;
  } catch {
    return undefined;
  }
}

/** The last event that stands there whole, and whether the file ends with a whole line. */
function endOf(fd: number): { last: Seq; whole: boolean } {
  const { size } = fstatSync(fd);
  if (size === 0) return { last: 0, whole: true };
  const bytes = Buffer.alloc(Math.min(size, TAIL));
  readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  const lines = bytes.toString("utf8").split("\n");
  const whole = lines.at(-1) === "";
  for (const line of lines.reverse()) {
    const one = parseLine(line);
    if (one) return { last: one.row.seq, whole };
  }
  return { last: 0, whole };
}
