// The store over a sound database, and its fall back to what salvage proves when the database turns out not to be.
import { statSync } from "node:fs";
import { packBlob } from "../blob-parts.ts";
import { crashPoint } from "../crash-point.ts";
import { damageIn } from "../damage-in.ts";
import { draft } from "../draft.ts";
import { HoldfastError, isHoldfastError } from "../error.ts";
import { createLeases } from "../leases.ts";
import type { SalvagedLedger } from "../salvage-chain.ts";
import type { Damage, LedgerSummary, ReadOnly, Store } from "../store.ts";
import { type Advanced, appendRows } from "./append.ts";
import { getBlob } from "./blobs.ts";
import { collectRows } from "./collect.ts";
import type { Connection } from "./connection.ts";
import { type Copies, provenCopy, sweepCopies } from "./copies.ts";
import { type Assessment, assess, findSalvage } from "./damage.ts";
import { leaseRows } from "./lease-row.ts";
import { closeUntouched } from "./open.ts";
import { type ReadOptions, readEvents } from "./read.ts";
import {
  allLedgerRows,
  damaged,
  entityVersion,
  type LedgerRow,
  ledgerPage,
  ledgerRow,
  removeLedgerRows,
  rowById,
  toEvent,
} from "./rows.ts";
import { createSalvagedStore, readSalvaged } from "./salvaged-store.ts";
import { POWER_SAFE } from "./schema.ts";
import type { Sidecar } from "./sidecar.ts";
import { createSnapshots } from "./snapshots.ts";
import { isCorrupt, translate } from "./sqlite-errors.ts";
import { verifyStore } from "./verify.ts";
import { dropWakes, dueWakes } from "./wakes.ts";
import { createWatch } from "./watch.ts";

/** Ledgers listed at once. */
const PAGE = 500;
/** A removal gives back at most so much at once (about 16 MB): the rest is used again by what comes. */
const FREED_PAGES = 4_000;

export interface LiveSettings {
  url: string;
  file: string;
  writer: number;
  interactive: boolean;
  leaseMs: number;
  /** Ledgers with a row that is known to fail its checksum. */
  broken: string[];
  sidecar?: Sidecar;
  copies?: Copies;
  /** Why nothing may be written. */
  onlyRead?: ReadOnly;
  beforeClose?: ((store: Store) => Promise<void>) | undefined;
}

export function createLiveStore(db: Connection, settings: LiveSettings): Store {
  const { url, file, sidecar, copies, onlyRead } = settings;
  const watch = createWatch(db, file);
  const leases = createLeases(leaseRows(db), settings);
  const broken = new Map<string, Damage>(
    settings.broken.map((ledger) => [ledger, { ledger, what: "the event is missing or fails its checksum" }]),
  );
  let fallen: Store | undefined;
  let closed = false;

  /** SQLite or a checksum says that something is damaged: copy, look at the raw pages, and decide what still holds. */
  async function fall(error: unknown): Promise<Assessment> {
    const detail = damageIn(error);
    // Without a place in the ledger it is its entry in the list that is wrong: then the list cannot be trusted.
    const structural = isCorrupt(error) || (detail?.ledger !== undefined && detail.seq === undefined);
    if (!structural && !isHoldfastError(error, "damaged")) throw translate(error);
    const seen = detail ? [detail] : [];
    const known = detail?.ledger === undefined ? undefined : broken.get(detail.ledger);
    // Nothing was appended to it since it was copied: one copy is enough.
    if (detail && known && !structural) throw damaged({ ...findSalvage(file, detail), ...known });
    const assessment = await assess(file, { db, seen, structural });
    if (assessment.structural) {
      fallen ??= createSalvagedStore(url, assessment);
    } else {
      for (const one of assessment.damage) mark(one);
      assessment.found.close(); // its rows are already read, and no blob is asked of it
    }
    return assessment;
  }

  function mark(damage: Damage): void {
    if (damage.ledger === undefined || broken.has(damage.ledger)) return;
    broken.set(damage.ledger, damage);
    const row = allLedgerRows(db).find((one) => one.name === damage.ledger && !one.removed);
    if (row) sidecar?.put({ n: row.n, name: row.name, seq: row.head, sum: row.hash, removed: false, damaged: true });
  }

  /** `otherwise` answers once the database itself is known to be damaged. */
  async function guarded<T>(normal: () => Promise<T>, otherwise: (store: Store) => Promise<T>): Promise<T> {
    if (fallen) return otherwise(fallen);
    try {
      return await normal();
    } catch (error) {
      await fall(error);
      if (fallen) return otherwise(fallen);
      throw error;
    }
  }

  function writable(ledger?: string): void {
    if (onlyRead) throw new HoldfastError(onlyRead.code, onlyRead.message);
    const damage = ledger === undefined ? undefined : broken.get(ledger);
    if (damage) throw damaged(damage);
  }

  function committed(advanced: Advanced[]): void {
    crashPoint("append.committed");
    for (const { row } of advanced) {
      const { n, name, head: seq, hash: sum } = row;
      sidecar?.put({ n, name, seq, sum, removed: row.removed === 1, damaged: false });
      watch.advanced(row);
    }
    crashPoint("append.before-bell");
    sidecar?.ring();
    for (const one of advanced) {
      if (one.row.removed) copies?.remove(one.row.n);
      else copies?.put(one);
    }
  }

  /** A ledger that is known to be damaged still reads to its end when its second copy is whole. */
  function copied(ledger: string): SalvagedLedger | undefined {
    if (!broken.has(ledger)) return undefined;
    try {
      const row = ledgerRow(db, ledger);
      const rows = row && provenCopy(file, row);
      return rows && { ...row, rows, inPages: 0, behind: [] };
    } catch {
      return undefined; // its entry in the list of ledgers is damaged too
    }
  }

  async function* read(ledger: string, opts: ReadOptions = {}) {
    let last = opts.after ?? 0;
    let proven: SalvagedLedger | undefined;
    if (fallen) return yield* fallen.read(ledger, opts);
    try {
      for await (const event of readEvents(db, ledger, opts)) {
        yield event;
        last = event.seq;
      }
      return;
    } catch (error) {
      proven = copied(ledger);
      if (!proven) {
        const { found, structural } = await fall(error);
        // What the copies hold beyond its head is of a time that was taken back.
        proven = (structural ? undefined : copied(ledger)) ?? found.ledgers.get(ledger);
      }
      // Raw pages that prove less than SQLite showed are no reason to end without a word.
      if (!proven || (proven.rows.length <= last && !proven.damage)) throw translate(error);
    }
    yield* readSalvaged(proven, { ...opts, after: last });
  }

  const store: Store = {
    url,
    /** The file itself. */
    get identity(): string {
      const { ino, birthtimeMs } = statSync(file);
      return `${ino}:${Math.round(birthtimeMs)}`;
    },
    durability: POWER_SAFE,
    reach: "machine",
    get readOnly(): ReadOnly | undefined {
      return onlyRead ?? fallen?.readOnly;
    },
    damageOf: (ledger) => broken.get(ledger) ?? fallen?.damageOf?.(ledger),
    async append(writes, opts = {}) {
      for (const write of writes) writable(write.ledger);
      writable();
      const drafts = draft(writes, opts);
      const packed = opts.blobs ? await Promise.all(opts.blobs.map(packBlob)) : [];
      const normal = async () => {
        const rows = () => appendRows(db, drafts, { ...opts, packed, writer: settings.writer });
        const done = await db.write(rows, opts);
        if (done.advanced.length > 0) committed(done.advanced);
        return done.events;
      };
      return guarded(normal, (store) => store.append(writes, opts));
    },
    read,
    head: (ledger) =>
      guarded(
        () => db.read(() => ledgerRow(db, ledger)?.head ?? 0),
        (store) => store.head(ledger),
      ),
    version: (ledger, entity) =>
      guarded(
        () => db.read(() => entityVersion(db, ledgerRow(db, ledger)?.n ?? 0, entity)),
        (store) => store.version(ledger, entity),
      ),
    async *list({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      for (let last = after, left = limit; left > 0; ) {
        const most = Math.min(left, PAGE);
        const page = await guarded(
          () => db.read(() => ledgerPage(db, { from: prefix, after: last, limit: most }).map(summaryOf)),
          (store) => collect(store.list({ prefix, after: last, limit: most })),
        );
        for (const one of page) {
          if (!one.ledger.startsWith(prefix)) return; // those with the prefix stand together
          yield one;
        }
        const end = page.at(-1);
        if (!end || page.length < most) return;
        last = end.ledger;
        left -= page.length;
      }
    },
    async remove(ledger) {
      writable();
      const normal = async () => {
        const row = await db.write(() => {
          dropWakes(db, new Set([ledger]));
          return removeLedgerRows(db, ledger);
        });
        broken.delete(ledger);
        if (!row) return;
        committed([{ row, events: [], summarised: false }]);
        await db.write(() => db.db.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`));
      };
      return guarded(normal, (store) => store.remove(ledger));
    },
    async collect(opts = {}) {
      if (!opts.dryRun) writable();
      const normal = async () => {
        const { removed, ...collected } = await collectRows(db, opts, leases.heldBy);
        crashPoint("collect.committed");
        for (const row of removed) broken.delete(row.name);
        if (removed.length > 0) committed(removed.map((row) => ({ row, events: [], summarised: false })));
        if (opts.dryRun || opts.blobs === false) return collected;
        await sweepCopies(file, () => db.read(() => allLedgerRows(db)));
        await db.write(() => db.db.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`));
        return collected;
      };
      return guarded(normal, (store) => store.collect(opts));
    },
    blob: (hash) =>
      guarded(
        () => db.read(() => getBlob(db, hash)),
        (store) => store.blob(hash),
      ),
    find: (ledger, id) =>
      guarded(
        () =>
          db.read(() => {
            const own = ledgerRow(db, ledger);
            const row = own && rowById(db, own.n, id);
            return row && toEvent(row);
          }),
        (store) => store.find(ledger, id),
      ),
    snapshots(ledger) {
      const own = createSnapshots(db, ledger);
      return {
        load: (keys) =>
          guarded(
            () => own.load(keys),
            async () => new Map(),
          ),
        save: async (seq, states, sum) => {
          if (!onlyRead && !fallen)
            await guarded(
              () => own.save(seq, states, sum),
              async () => {},
            );
        },
      };
    },
    watchAll: (signal) => watch.subscribe(signal),
    due: (now) =>
      guarded(
        () => db.read(() => dueWakes(db, now)),
        (store) => store.due(now),
      ),
    leases: {
      async acquire(name, opts) {
        writable();
        return guarded(
          () => leases.acquire(name, opts),
          (store) => store.leases.acquire(name, opts),
        );
      },
      inspect: (name) =>
        guarded(
          () => leases.inspect(name),
          (store) => store.leases.inspect(name),
        ),
    },
    verify: (opts) => (fallen ? fallen.verify(opts) : verifyStore(db, file, opts)),
    async close() {
      if (closed) return;
      closed = true;
      await settings.beforeClose?.(store);
      watch.close();
      sidecar?.close();
      copies?.close();
      if (fallen) closeUntouched(db, file);
      // The last one to close moves the WAL into the file. To do so while others write would hold them up, and they would all wait.
      else db.close();
      await fallen?.close();
    },
  };
  return store;
}

async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of all) list.push(one);
  return list;
}

function summaryOf(row: LedgerRow): LedgerSummary {
  const { name, head, created_at, updated_at, summary } = row;
  return { ledger: name, head, createdAt: created_at, updatedAt: updated_at, summary: JSON.parse(summary) };
}
