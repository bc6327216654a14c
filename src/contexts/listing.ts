// Owns listing and status: what each context is, and whether it can be taken up again. Derived from ledgers and leases, never written.
import type { HeldBy, LedgerSummary, Seq, Store } from "../ledger/store.ts";

export type ContextStatus = "running" | "paused" | "interrupted" | "completed" | "failed" | "idle";

export interface ContextInfo {
  id: string;
  title: string;
  root: string;
  status: ContextStatus;
  createdAt: number;
  updatedAt: number;
  events: number;
  rounds: number;
  heldBy?: HeldBy;
  /** Removed by `gc` when nothing was recorded for so long. */
  ttlMs?: number;
  /** The last checkpoint that was made. */
  checkpoint?: { name: string; at: number };
  forkOf?: ForkOrigin;
}

export interface ForkOrigin {
  context: string;
  checkpoint: string;
  seq: Seq;
}

/** What a ledger's summary holds: the loop writes its keys, contexts theirs; a store joins the two. */
export interface Summary {
  title?: string;
  root?: string;
  open?: boolean;
  reason?: string | null;
  rounds?: number;
  ttlMs?: number | null;
  checkpoint?: { name: string; at: number };
  forkOf?: ForkOrigin | null;
  /** Agents other than `lead` whose leases count. */
  agents?: string[];
  /** Its import has not ended. */
  importing?: boolean | null;
}

export const LEAD_AGENT = "lead";

/** Newest first. */
export async function listContexts(store: Store): Promise<ContextInfo[]> {
  const found: ContextInfo[] = [];
  for await (const entry of store.list({ prefix: "ctx_" })) {
    if (!summaryOf(entry).importing) found.push(await describeContext(store, entry));
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
}

export function summaryOf(entry: LedgerSummary): Summary {
  return (entry.summary ?? {}) as Summary;
}

async function describeContext(store: Store, entry: LedgerSummary): Promise<ContextInfo> {
  const summary = summaryOf(entry);
  const heldBy = await holderOf(store, entry.ledger, summary.agents);
  return {
    id: entry.ledger,
    title: summary.title ?? "",
    root: summary.root ?? "",
    status: statusOf(summary, heldBy),
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    events: entry.head,
    rounds: summary.rounds ?? 0,
    ...(heldBy ? { heldBy } : {}),
    ...(typeof summary.ttlMs === "number" ? { ttlMs: summary.ttlMs } : {}),
    ...(summary.checkpoint ? { checkpoint: summary.checkpoint } : {}),
    ...(summary.forkOf ? { forkOf: summary.forkOf } : {}),
  };
}

/** Whoever may still advance one of its agents. */
export async function holderOf(
  store: Store,
  context: string,
  agents: readonly string[] = [],
): Promise<HeldBy | undefined> {
  for (const name of new Set([LEAD_AGENT, ...agents])) {
    const held = await store.leases.inspect(agentLease(context, name));
    if (held) return held;
  }
  return undefined;
}

export function agentLease(context: string, agent: string): string {
  return `agent:${context}/${agent}`;
}

/** An open turn without a live holder is interrupted, without anyone having written so. */
function statusOf(summary: Summary, heldBy: HeldBy | undefined): ContextStatus {
  if (summary.open) return heldBy?.alive ? "running" : "interrupted";
  if (summary.reason === "done") return "completed";
  if (summary.reason === "interrupted") return "paused";
  return summary.reason ? "failed" : "idle";
}
