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
import { digest, genesis, hex, type Row } from "../checksum.ts";
import type { Seq } from "../store.ts";
import type { Advanced } from "./append.ts";
import type { Connection } from "./connection.ts";
import { eventRows, follows, type LedgerRow } from "./rows.ts";

export interface Copies {
  /** Contract: after the commit; never fails it; no fsync. What a killed process left out is made up for by the next one. */
  put(advanced: Advanced): void;
  remove(n: number): void;
  close(): void;
}

/** One line of the copy of ledger n. */
export interface Copied {
  n: number;
  /** On the first event of a ledger. */
  name?: string;
  row?: Row;
  /** What the list of ledgers says of it since event `of`. */
  summary?: { of: Seq; text: string };
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
    put({ row: ledger, events, summarised }) {
      try {
        const one = opened(ledger.n);
        const first = ledger.head - events.length + 1;
        let text = "";
        if (one.last !== first - 1) {
          const end = endOf(one.fd);
          if (!end.whole) text = "\n";
          const gap = { from: end.last + 1, to: first - 1, limit: GAP };
          if (gap.to >= gap.from && gap.to - gap.from < GAP)
            for (const row of eventRows(db, ledger.n, gap)) text += eventLine(ledger.name, row);
        }
        for (const row of events) text += eventLine(ledger.name, row);
        if (summarised) text += summaryLine(ledger);
        one.last = -1; // a line that was cut off must not be continued
        writeSync(one.fd, text);
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

/** Does any copy lie beside that file? */
export function hasCopies(file: string): boolean {
  return existsSync(folderOf(file));
}

/** Every line of every copy, as far as it can be read. No event is proven yet. */
export function* readCopies(file: string): Generator<Copied> {
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
  for (const { row } of readCopy(file, ledger.n)) if (row) bySeq.set(row.seq, [...(bySeq.get(row.seq) ?? []), row]);
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
function eventLine(name: string, row: Row): string {
  const { seq, id, at, type, v, actor, touches } = row;
  const head = JSON.stringify({ seq, ...(seq === 1 && { name }), id, at, type, v, actor, sum: hex(row.sum) });
  return `${head.slice(0, -1)},"touches":${touches},"data":${row.data}}\n`;
}

function summaryLine({ n, name, head, summary }: LedgerRow): string {
  return `{"of":${head},"name":${JSON.stringify(name)},"check":"${summarySum(n, { name, of: head, text: summary })}","summary":${summary}}\n`;
}

function summarySum(n: number, { name, of, text }: { name: string; of: Seq; text: string }): string {
  return hex(digest("summary", [n, name, of, text]));
}

function* readCopy(file: string, n: number): Generator<Copied> {
  const path = pathOf(file, n);
  if (!existsSync(path)) return;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const one = eventIn(line) ?? summaryIn(line, n);
    if (one) yield { n, ...one };
  }
}

/** The fields before the last one, and the text of that. No text inside a line can look like its name: its quotes would be escaped. */
function parts(line: string, last: string) {
  const at = line.indexOf(`,"${last}":`);
  if (at < 0 || !line.endsWith("}")) return undefined;
  try {
    return { fields: JSON.parse(`${line.slice(0, at)}}`), text: line.slice(at + last.length + 4, -1) };
  } catch {
    return undefined;
  }
}

function eventIn(line: string): { name?: string; row: Row } | undefined {
  const found = parts(line, "data");
  if (!found || !Number.isSafeInteger(found.fields.seq) || typeof found.fields.sum !== "string") return undefined;
  const { name, touches, sum, ...rest } = found.fields;
  const text = { touches: touches === null ? null : JSON.stringify(touches), data: found.text };
  return { ...(name !== undefined && { name }), row: { ...rest, ...text, sum: Buffer.from(sum, "hex") } };
}

function summaryIn(line: string, n: number): Pick<Copied, "summary"> | undefined {
  const found = parts(line, "summary");
  if (!found) return undefined;
  const { of, name, check } = found.fields;
  return check === summarySum(n, { name, of, text: found.text }) ? { summary: { of, text: found.text } } : undefined;
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
    const one = eventIn(line);
    if (one) return { last: one.row.seq, whole };
  }
  return { last: 0, whole };
}
