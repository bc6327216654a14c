// The append: de-duplicate, check the guards, write everything in one transaction.
import type { PackedBlob } from "../blob-parts.ts";
import { eventSum, genesis, hex, type Row, sameBytes } from "../checksum.ts";
import { crashPoint } from "../crash-point.ts";
import type { DraftedWrite } from "../draft.ts";
import { HoldfastError } from "../error.ts";
import { isRecord } from "../guards.ts";
import type { AppendOptions, Base, Seq, StoredEvent } from "../store.ts";
import { putBlob } from "./blobs.ts";
import type { Connection } from "./connection.ts";
import { checkLease } from "./lease-row.ts";
import { advanceMark, freshMark, type Mark, markOf, recordReference } from "./references.ts";
import {
  damaged,
  entityVersion,
  eventAs,
  type LedgerEntry,
  ledgerRow,
  putEventRow,
  putLedgerRow,
  rowById,
  sumAt,
  toEvent,
  touchedAt,
  updateLedgerRow,
} from "./rows.ts";
import { putWake } from "./wakes.ts";

export interface Advanced {
  row: LedgerEntry;
  events: Row[];
  /** Its summary is another one now. */
  summarised: boolean;
}

export interface Appended {
  events: StoredEvent[];
  /** Ledgers whose head moved, each with its new rows; empty when the batch was already recorded. */
  advanced: Advanced[];
}

interface OpenLedger {
  row: LedgerEntry;
  isNew: boolean;
  /** A write that only guards changes nothing of its ledger. */
  changed: boolean;
  summarised: boolean;
  /** What it names is recorded up to its last event: by this mark, a part of the row. Undefined: a collection reads it. */
  mark: Mark | undefined;
  events: Row[];
}

/** One write, and the ledger that it goes to. */
interface PlacedWrite extends DraftedWrite {
  open: OpenLedger;
}

/** Contract: runs inside a write transaction; throws to refuse the whole. */
export function appendRows(
  db: Connection,
  drafts: DraftedWrite[],
  opts: AppendOptions & { packed: PackedBlob[]; writer: number },
): Appended {
  const ledgers = new Map<string, OpenLedger>();
  const at = Date.now();
  const next = { n: 0, at };
  const placed = drafts.map(({ write, events, possible }): PlacedWrite => {
    const open = ledgers.get(write.ledger) ?? openLedger(db, write.ledger, next);
    ledgers.set(write.ledger, open);
    return { write, events, possible, open };
  });

  const old = recorded(db, placed);
  if (old) return { events: old, advanced: [] };
  checkGuards(db, placed, opts);

  const events: StoredEvent[] = [];
  for (const one of placed) {
    const { write, open, possible } = one;
    if (one.events.length === 0 && write.summary === undefined) continue;
    const ledger = open.row;
    open.changed = true;
    putEvents(db, one, { at, events });
    recordNamed(db, open, { possible, packed: opts.packed });
    if (write.summary !== undefined) {
      ledger.summary = joinSummaries(ledger.summary, write.summary);
      open.summarised = true;
    }
    ledger.updated_at =
      write.listed?.updatedAt ?? updatedAt(db, { before: ledger.updated_at, at, listed: write.summary !== undefined });
    if (write.listed) ledger.created_at = write.listed.createdAt;
    ledger.min_writer = Math.max(ledger.min_writer, opts.writer);
  }
  const changed = [...ledgers.values()].filter((ledger) => ledger.changed);
  for (const { row, isNew } of changed) (isNew ? putLedgerRow : updateLedgerRow)(db, row);
  for (const blob of opts.packed) putBlob(db, blob);
  for (const wake of opts.wake ?? []) putWake(db, wake);
  crashPoint("append.before-commit");
  return { events, advanced: changed.map(({ row, events, summarised }) => ({ row, events, summarised })) };
}

/** The rows of one write, chained to the ledger's last; `events` gets them as they are stored. */
function putEvents(db: Connection, { events, open }: PlacedWrite, into: { at: number; events: StoredEvent[] }): void {
  const ledger = open.row;
  const versions = new Map<string, Seq>();
  for (const one of events) {
    const { id, at = into.at, type, v, actor, touches, data } = one;
    const row: Row = { seq: ledger.head + 1, id, at, type, v, actor, touches, data, sum: ledger.hash };
    row.sum = eventSum(row.sum, row); // over the sum of the one before it
    putEventRow(db, ledger, row);
    open.events.push(row);
    ledger.head = row.seq;
    ledger.hash = row.sum;
    const event = eventAs(row, one.input);
    for (const entity of event.touches) versions.set(entity, row.seq);
    into.events.push(event);
  }
  for (const [entity, version] of versions) {
    db.run(
      "INSERT INTO entities VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET version = excluded.version",
      ledger.n,
      entity,
      version,
    );
  }
}

/** What its new events name, of blobs that are in the store or come with this append. */
function recordNamed(
  db: Connection,
  open: OpenLedger,
  { possible, packed }: Pick<DraftedWrite, "possible"> & { packed: PackedBlob[] },
): void {
  if (possible === "many") open.mark = undefined;
  const { row, mark } = open;
  if (!mark || possible === "many") return; // a collection reads it
  const there = (hash: Buffer) =>
    packed.some((blob) => sameBytes(blob.hash, hash)) ||
    db.get("SELECT 1 FROM blobs WHERE hash = ? LIMIT 1", hash) !== undefined;
  for (const text of possible ?? []) {
    const hash = Buffer.from(text, "hex");
    if (there(hash)) recordReference(db, { n: row.n, mark }, hash);
  }
  advanceMark(mark, row.hash);
}

/** A clock that goes back by more was wrong before: what it had said then is not carried on. */
const CARRIED_MS = 86_400_000;

/** Listings are in order of this: it does not go back with the clock, and what changes a listing comes after all the others. */
function updatedAt(db: Connection, { before, at, listed }: { before: number; at: number; listed: boolean }): number {
  const until = at + CARRIED_MS;
  if (!listed) return before < until ? Math.max(before, at) : at;
  const sql = "SELECT max(updated_at) AS at FROM ledgers WHERE updated_at < ?";
  return Math.max((db.get<{ at: number | null }>(sql, until)?.at ?? 0) + 1, at);
}

function joinSummaries(before: string, next: unknown): string {
  if (!isRecord(next)) return JSON.stringify(next);
  const old: unknown = JSON.parse(before);
  return JSON.stringify(isRecord(old) ? { ...old, ...next } : next);
}

function openLedger(db: Connection, name: string, next: { n: number; at: number }): OpenLedger {
  const row = ledgerRow(db, name, { references: true });
  if (row) {
    // The list of ledgers and the events must agree before anything is chained to them.
    if (!sameBytes(sumAt(db, row, row.head), row.hash))
      throw damaged({ ledger: name, seq: row.head, what: "its last event is missing or changed" });
    return { row, isNew: false, changed: false, summarised: false, mark: markOf(row), events: [] };
  }
  next.n ||= (db.get<{ n: number | null }>("SELECT max(n) AS n FROM ledgers")?.n ?? 0) + 1;
  const n = next.n++;
  const hash = genesis(n, name);
  const mark = freshMark(hash);
  const fresh = {
    n,
    name,
    head: 0,
    hash,
    created_at: next.at,
    updated_at: next.at,
    summary: "null",
    min_writer: 0,
    removed: 0,
    refs: mark,
  };
  return { row: fresh, isNew: true, changed: false, summarised: false, mark, events: [] };
}

/** The stored events when every id is known with the same content; undefined when none is. */
function recorded(db: Connection, placed: readonly PlacedWrite[]): StoredEvent[] | undefined {
  const old: StoredEvent[] = [];
  let fresh: string | undefined;
  for (const { write, events, open } of placed) {
    const { row: ledger, isNew } = open;
    for (const one of events) {
      const known = one.given && !isNew ? rowById(db, ledger.n, one.id) : undefined;
      if (!known) {
        fresh = one.id;
        continue;
      }
      const same =
        known.type === one.type &&
        known.v === one.v &&
        known.actor === one.actor &&
        known.touches === one.touches &&
        known.data === one.data;
      if (!same)
        throw new HoldfastError(
          "id_reused",
          `event id ${one.id} is already recorded in ${write.ledger} with other content`,
        );
      old.push(toEvent(known));
    }
  }
  const [first] = old;
  if (!first) return undefined;
  if (fresh !== undefined) {
    throw new HoldfastError(
      "id_reused",
      `event ${first.id} is already recorded but ${fresh} is not: a batch is wholly new or wholly old`,
    );
  }
  return old;
}

function checkGuards(db: Connection, placed: readonly PlacedWrite[], opts: AppendOptions & { writer: number }): void {
  for (const { write, open } of placed) if (write.base) checkBase(db, open.row, write.base);
  if (opts.lease) checkLease(db, opts.lease);
  for (const { write, open } of placed) {
    const { row } = open;
    if (row.min_writer > opts.writer) {
      throw new HoldfastError(
        "upgrade",
        `ledger ${write.ledger} was written by a newer Holdfast: upgrade to write to it`,
      );
    }
    for (const [entity, expected] of Object.entries(write.expect ?? {})) {
      const actual = entityVersion(db, row.n, entity);
      if (actual !== expected) {
        // A guard that could never pass again is damage, not a conflict.
        if (!touchedAt(db, row.n, { entity, version: actual }))
          throw damaged({ ledger: write.ledger, seq: actual, what: `the stored version of ${entity} is wrong` });
        throw new HoldfastError(
          "conflict",
          `${entity} in ${write.ledger} has version ${actual}, not ${expected}: read it again and decide anew`,
          {
            detail: { entity, expected, actual },
          },
        );
      }
    }
  }
}

/** Contract: throws `rolled_back` unless this event stands in the ledger. The head's hash is at hand; only an older base is looked up. */
function checkBase(db: Connection, row: LedgerEntry, { seq, sum }: Base): void {
  const there = seq > row.head ? undefined : seq === row.head ? row.hash : sumAt(db, row, seq);
  if (there && hex(there) === sum) return;
  const how = there ? "another event stands there" : `it ends at event ${row.head}`;
  throw new HoldfastError(
    "rolled_back",
    `ledger ${row.name} has another past than event ${seq} that was read (${how}): an older copy was put back; open it anew`,
    { detail: { ledger: row.name, seq, head: row.head } },
  );
}
