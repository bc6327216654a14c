// The end of contexts: deletion on demand, and the collection of those whose time has passed. Running ones stay; forks need nobody.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { crashPoint } from "../ledger/crash-point.ts";
import { HoldfastError } from "../ledger/error.ts";
import { holderText } from "../ledger/holder.ts";
import type { Collected, HeldBy, LedgerSummary, Seq, Store } from "../ledger/store.ts";
import { agentLeases, contextEntries, isContextId, summaryOf } from "./listing.ts";

export interface GcOptions {
  /** Says what would go, and changes nothing. */
  dryRun?: boolean;
  now?: number;
  /** For contexts that say nothing themselves. */
  defaultTtlMs?: number;
}

export interface GcReport {
  /** What goes, with the size of its events. */
  removed: { id: string; title: string; updatedAt: number; ttlMs: number; bytes: number }[];
  /** Past their time and kept. */
  kept: { id: string; title: string; reason: string }[];
  /** Values that nothing names any more, and what they took on disk. */
  blobs: number;
  bytes: number;
}

/** So many go in one transaction: others wait for about as long as for a large append. */
const BATCH = 50;
/** Looked at before others in this process have a turn. */
const LOOKED_AT = 500;

/** Contract: each context goes whole or stays; killed in between, the next one goes on. */
export async function collectGarbage(store: Store, opts: GcOptions = {}): Promise<GcReport> {
  const { dryRun = false, now = Date.now(), defaultTtlMs } = opts;
  const due: LedgerSummary[] = [];
  let seen = 0;
  for await (const entry of contextEntries(store)) {
    if (isDue(entry, now, defaultTtlMs)) due.push(entry);
    if (++seen % LOOKED_AT === 0) await yieldToEventLoop();
  }
  const report = await removeExpired(store, due, { now, defaultTtlMs, dryRun });
  // What they named is only loose when all of them are gone.
  const rest = dryRun ? due.filter(({ ledger }) => report.removed.some(({ id }) => id === ledger)) : [];
  const { blobs, bytes } = await store.collect({ remove: rest.map(removalOf), dryRun });
  return { ...report, blobs, bytes: bytes + report.removed.reduce((sum, one) => sum + one.bytes, 0) };
}

type Expired = Pick<GcReport, "removed" | "kept">;

/** Contract: whoever begins to work in one of them meanwhile keeps it. Blobs stay. */
export async function removeExpired(
  store: Store,
  due: readonly LedgerSummary[],
  { now, defaultTtlMs, dryRun = false }: GcOptions & { now: number },
): Promise<Expired> {
  const report: Expired = { removed: [], kept: [] };
  const scheduled = await scheduledFor(store, now);
  const going = due.filter((entry) => {
    const at = scheduled.get(entry.ledger);
    if (at !== undefined)
      report.kept.push({ ...nameOf(entry), reason: `something is scheduled in it for ${dateOf(at)}` });
    return at === undefined;
  });
  for (let i = 0; i < going.length; i += BATCH) {
    const batch = going.slice(i, i + BATCH);
    const { ledgers, held } = await store.collect({ remove: batch.map(removalOf), blobs: false, dryRun });
    if (!dryRun) crashPoint("gc.batch");
    tell(report, batch, { ledgers, held }, defaultTtlMs);
    await yieldToEventLoop();
  }
  return report;
}

function tell(
  report: Expired,
  batch: readonly LedgerSummary[],
  done: Pick<Collected, "ledgers" | "held">,
  defaultTtlMs: number | undefined,
): void {
  const sizes = new Map(done.ledgers.map((one) => [one.ledger, one.bytes]));
  const holders = new Map(done.held.map((one) => [one.ledger, one.by]));
  for (const entry of batch) {
    const bytes = sizes.get(entry.ledger);
    const by = holders.get(entry.ledger);
    if (bytes !== undefined) {
      const ttlMs = summaryOf(entry).ttlMs ?? defaultTtlMs ?? 0;
      report.removed.push({ ...nameOf(entry), updatedAt: entry.updatedAt, ttlMs, bytes });
    } else {
      const reason = by ? `${holderText(by)} runs an agent in it` : "something was recorded meanwhile";
      report.kept.push({ ...nameOf(entry), reason });
    }
  }
}

const nameOf = (entry: LedgerSummary) => ({ id: entry.ledger, title: summaryOf(entry).title ?? "" });
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 16).replace("T", " ");
const removalOf = ({ ledger, head }: LedgerSummary) => ({ ledger, head, leases: agentLeases(ledger) });

export function isDue(entry: LedgerSummary, now: number, defaultTtlMs: number | undefined): boolean {
  const summary = summaryOf(entry);
  if (summary.importing) return true; // its importer is gone, or holds the lease
  const ttlMs = summary.ttlMs === null ? undefined : (summary.ttlMs ?? defaultTtlMs);
  return ttlMs !== undefined && entry.updatedAt + ttlMs <= now;
}

/** Contexts for which something is still to happen, and when. What is overdue has had its time. */
async function scheduledFor(store: Store, now: number): Promise<Map<string, number>> {
  const wakes = await store.due(Number.MAX_SAFE_INTEGER);
  return new Map(wakes.filter(({ dueAt }) => dueAt > now).map(({ context, dueAt }) => [context, dueAt]));
}

/** Something was recorded between looking and removing so often: somebody is at work in it. */
const TRIES = 10;

/** Its values stay until the next sweep. Contract: throws `held` while an agent runs in it. */
export async function deleteContext(store: Store, id: string): Promise<void> {
  for (let i = 0; i < TRIES; i++) {
    const entry = await findEntry(store, id);
    const { ledgers, held } = await store.collect({ remove: [removalOf(entry)], blobs: false });
    if (ledgers.length > 0) return;
    const [busy] = held;
    if (busy) throw heldError(id, busy.by);
  }
  throw new HoldfastError("busy", `${id} cannot be deleted: somebody writes to it all the time; end that first`);
}

const heldError = (id: string, by: HeldBy): HoldfastError =>
  new HoldfastError("held", `${id} cannot be deleted: ${holderText(by)} runs an agent in it; end it first`);

export async function findEntry(store: Store, id: string): Promise<LedgerSummary & { head: Seq }> {
  // Of all names with that prefix the id itself comes first.
  if (isContextId(id))
    for await (const entry of store.list({ prefix: id, limit: 1 })) if (entry.ledger === id) return entry;
  throw new HoldfastError("not_found", `there is no context ${id}`, { detail: { id }, next: "list contexts" });
}
