// Reading: events in order, each checked against the one before it.
import type { Row } from "../checksum.ts";
import type { Damage, Seq, StoredEvent } from "../store.ts";
import type { Connection } from "./connection.ts";
import { damaged, eventRows, follows, ledgerRow, sumAt, toEvent } from "./rows.ts";

const BATCH = 500;

export interface ReadOptions {
  after?: Seq;
  upTo?: Seq;
  actor?: string;
  types?: string[];
}

export function wanted(row: Row, opts: ReadOptions): boolean {
  return (
    (opts.actor === undefined || row.actor === opts.actor) &&
    (opts.types === undefined || opts.types.includes(row.type))
  );
}

/** Contract: throws `damaged` with the seq of the first row that is missing or does not follow from its predecessor. */
export async function* readEvents(db: Connection, ledger: string, opts: ReadOptions = {}): AsyncGenerator<StoredEvent> {
  const row = await db.read(() => ledgerRow(db, ledger));
  if (!row) return;
  const to = Math.min(opts.upTo ?? row.head, row.head);
  let at = opts.after ?? 0;
  if (at >= to) return;
  const broken = (seq: Seq, what: string): Damage => ({ ledger, seq, what });
  let previous = await db.read(() => sumAt(db, row, at));
  if (!previous) throw damaged(broken(at, "the event is missing"));
  while (at < to) {
    const rows = await db.read(() => eventRows(db, row.n, { from: at + 1, to, limit: BATCH }));
    if (rows.length === 0 && !(await db.read(() => ledgerRow(db, ledger)))) return; // removed meanwhile
    if (rows.length === 0) throw damaged(broken(at + 1, "the event is missing"));
    for (const one of rows) {
      if (one.seq !== at + 1) throw damaged(broken(at + 1, "the event is missing"));
      if (!follows(previous, one)) throw damaged(broken(one.seq, "the event fails its checksum"));
      previous = one.sum;
      at = one.seq;
      if (wanted(one, opts)) yield toEvent(one);
    }
  }
}
