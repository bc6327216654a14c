// Owns the end of contexts: deletion on demand, and the sweep of those whose time has passed. Running ones stay; forks need nobody.
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import type { Lease, LedgerSummary, Seq, Store } from "../ledger/store.ts";
import { agentLease, holderOf, LEAD_AGENT, summaryOf } from "./listing.ts";

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

/** One transaction for all. */
export async function collectGarbage(store: Store, opts: GcOptions = {}): Promise<GcReport> {
  const { dryRun = false, now = Date.now(), defaultTtlMs } = opts;
  const report: GcReport = { removed: [], kept: [], blobs: 0, bytes: 0 };
  const due: LedgerSummary[] = [];
  const leases: Lease[] = [];
  try {
    for await (const entry of store.list({ prefix: "ctx_" })) {
      if (!isDue(entry, now, defaultTtlMs)) continue;
      const taken = await takeAll(store, entry, dryRun);
      if ("reason" in taken) {
        report.kept.push({ id: entry.ledger, title: summaryOf(entry).title ?? "", reason: taken.reason });
        continue;
      }
      leases.push(...taken.leases);
      due.push(entry);
    }
    const remove = due.map((entry) => ({ ledger: entry.ledger, head: entry.head }));
    const { ledgers, blobs, bytes } = await store.collect({ remove, dryRun });
    if (!dryRun)
      await forgetWakes(
        store,
        ledgers.map((one) => one.ledger),
      );
    const sizes = new Map(ledgers.map((one) => [one.ledger, one.bytes]));
    for (const entry of due) {
      const { title = "", ttlMs } = summaryOf(entry);
      const size = sizes.get(entry.ledger);
      if (size === undefined) report.kept.push({ id: entry.ledger, title, reason: "something was recorded meanwhile" });
      else
        report.removed.push({
          ...{ id: entry.ledger, title, updatedAt: entry.updatedAt },
          ttlMs: ttlMs ?? defaultTtlMs ?? 0,
          bytes: size,
        });
    }
    return { ...report, blobs, bytes: bytes + report.removed.reduce((sum, one) => sum + one.bytes, 0) };
  } finally {
    for (const lease of leases) await lease.release();
  }
}

function isDue(entry: LedgerSummary, now: number, defaultTtlMs: number | undefined): boolean {
  const summary = summaryOf(entry);
  if (summary.importing) return true; // its importer is gone, or holds the lease
  const ttlMs = summary.ttlMs === null ? undefined : (summary.ttlMs ?? defaultTtlMs);
  return ttlMs !== undefined && entry.updatedAt + ttlMs <= now;
}

/** No agent may start while its context goes: whoever removes it holds their leases. */
async function takeAll(
  store: Store,
  entry: LedgerSummary,
  dryRun: boolean,
): Promise<{ leases: Lease[] } | { reason: string }> {
  const { agents: working = [], busy = [] } = summaryOf(entry);
  const agents = [...new Set([LEAD_AGENT, ...working, ...busy, ...(await agentsOf(store, entry.ledger))])];
  // Looked at first: asking for the lease of a hung process would end that process.
  const held = await holderOf(store, entry.ledger, agents);
  if (held) return { reason: `process ${held.holder.pid} runs an agent in it` };
  const leases: Lease[] = [];
  for (const agent of dryRun ? [] : agents) {
    const lease = await store.leases.acquire(agentLease(entry.ledger, agent));
    if ("held" in lease) {
      for (const one of leases) await one.release();
      return { reason: `process ${lease.held.holder.pid} has just begun to work in it` };
    }
    leases.push(lease);
  }
  return { leases };
}

/** Also those that are idle: a host takes them when it finds work for them. */
async function agentsOf(store: Store, context: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const event of store.read(context, { types: ["agent.created"] }))
      names.push((event.data as { name: string }).name);
  } catch (error) {
    if (!isHoldfastError(error, "damaged")) throw error; // it goes all the same
  }
  return names;
}

/** Nobody is woken for what is gone. */
async function forgetWakes(store: Store, contexts: string[]): Promise<void> {
  const gone = new Set(contexts);
  const wakes = await store.due(Number.MAX_SAFE_INTEGER);
  const stale = wakes.filter(({ context }) => gone.has(context));
  if (stale.length > 0) await store.append([], { wake: stale.map((wake) => ({ ...wake, dueAt: null })) });
}

/** Its values stay until the next sweep. Contract: throws `held` while an agent runs in it. */
export async function deleteContext(store: Store, id: string): Promise<void> {
  const entry = await findEntry(store, id);
  const taken = await takeAll(store, entry, false);
  if ("reason" in taken) throw new HoldfastError("held", `${id} cannot be deleted: ${taken.reason}; end it first`);
  try {
    await store.remove(id);
    await forgetWakes(store, [id]);
  } finally {
    for (const lease of taken.leases) await lease.release();
  }
}

export async function findEntry(store: Store, id: string): Promise<LedgerSummary & { head: Seq }> {
  // Of all names with that prefix the id itself comes first.
  for await (const entry of store.list({ prefix: id, limit: 1 })) if (entry.ledger === id) return entry;
  throw new HoldfastError("not_found", `there is no context ${id}`, { detail: { id }, next: "list contexts" });
}
