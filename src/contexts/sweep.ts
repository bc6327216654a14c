// The sweep that any process does beside its work: a few contexts whose time has passed go, one sweeper at a time.
import { firstIdAt } from "../ledger/id.ts";
import type { LedgerSummary, Store } from "../ledger/store.ts";
import { type GcReport, isDue, removeExpired } from "./gc.ts";
import { isContextId, summaryOf } from "./listing.ts";

export interface SweepOptions {
  /** For contexts that say nothing themselves. */
  defaultTtlMs?: number;
  /** Left alone: they are in use here. */
  except?: (context: string) => boolean;
  /** A process that stays has time: it looks at all contexts, and values that nothing names go too. */
  whole?: boolean;
}

/** So many are looked at, and go, at once: a command that is about to end is not held up. */
const LOOKED_AT = 200;
const MOST = 50;
/** Another machine's import may go on without a lease that can be seen from here. */
const IMPORT_MS = 3_600_000;
/** For a process that stays: not at its start, and then now and then. */
const FIRST_MS = 60_000;
const AGAIN_MS = 3_600_000;

const LEASE = "sweep:contexts";

/** Contract: never throws; where nothing is due nothing is written. Gives what went. */
export async function sweepExpired(store: Store, opts: SweepOptions = {}): Promise<GcReport["removed"]> {
  try {
    if (store.readOnly) return [];
    const { defaultTtlMs, except = () => false, whole = false } = opts;
    const now = Date.now();
    const { entries, all } = await look(store, whole);
    const due = entries
      .filter((entry) => isContextId(entry.ledger) && isDue(entry, now, defaultTtlMs))
      .filter((entry) => !except(entry.ledger) && !isArriving(entry, now))
      .slice(0, whole ? undefined : MOST);
    if (due.length === 0) return [];
    const lease = await store.leases.acquire(LEASE);
    if ("held" in lease) return [];
    try {
      const { removed } = await removeExpired(store, due, { now, defaultTtlMs });
      // In a large store that takes a moment: then it is left to whoever stays, and to `gc`.
      if (removed.length > 0 && (whole || all)) await store.collect();
      return removed;
    } finally {
      await lease.release();
    }
  } catch {
    return []; // the next one tries again
  }
}

const isArriving = (entry: LedgerSummary, now: number): boolean =>
  summaryOf(entry).importing === true && entry.updatedAt + IMPORT_MS > now;

/** The oldest, and in a large store some from anywhere: none is passed over for ever. */
async function look(store: Store, whole: boolean): Promise<{ entries: LedgerSummary[]; all: boolean }> {
  const page = async (after: string): Promise<LedgerSummary[]> => {
    const found: LedgerSummary[] = [];
    for await (const entry of store.list({ prefix: "ctx_", after, ...(whole ? {} : { limit: LOOKED_AT }) }))
      found.push(entry);
    return found;
  };
  const first = await page("");
  const last = first.at(-1);
  if (whole || !last || first.length < LOOKED_AT) return { entries: first, all: true };
  const { ledger, createdAt } = last;
  const later = firstIdAt("ctx", createdAt + Math.random() * (Date.now() - createdAt));
  const [, after = ledger] = [later, ledger].sort();
  const more = await page(after);
  return { entries: [...first, ...more], all: false };
}

export interface Sweeper {
  /** Contract: waits for what is going on. */
  stop(): Promise<void>;
}

/** For a process that stays: it keeps none alive. */
export function keepSweeping(store: Store, opts: SweepOptions = {}): Sweeper {
  let going: Promise<unknown> = Promise.resolve();
  const sweep = () => {
    going = sweepExpired(store, { ...opts, whole: true });
  };
  let timer = setTimeout(() => {
    sweep();
    timer = setInterval(sweep, AGAIN_MS);
    timer.unref();
  }, FIRST_MS);
  timer.unref();
  return {
    async stop() {
      clearTimeout(timer);
      await going;
    },
  };
}
