// Owns execution contexts as a whole: listing, status, what can be taken up again. Derived from ledgers and leases, never written.
import type { HeldBy, LedgerSummary, Store } from "../ledger/store.ts";

export { openProject, type Project, stateHome } from "./project.ts";

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
}

interface Summary {
  title?: string;
  root?: string;
  open?: boolean;
  reason?: string | null;
  rounds?: number;
}

/** Newest first. */
export async function listContexts(store: Store): Promise<ContextInfo[]> {
  const found: ContextInfo[] = [];
  for await (const entry of store.list({ prefix: "ctx_" })) found.push(await describe(store, entry));
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
}

async function describe(store: Store, entry: LedgerSummary): Promise<ContextInfo> {
  const summary = (entry.summary ?? {}) as Summary;
  const heldBy = await store.leases.inspect(`agent:${entry.ledger}/lead`);
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
  };
}

/** An open turn without a live holder is interrupted, without anyone having written so. */
function statusOf(summary: Summary, heldBy: HeldBy | undefined): ContextStatus {
  if (summary.open) return heldBy?.alive ? "running" : "interrupted";
  if (summary.reason === "done") return "completed";
  if (summary.reason === "interrupted") return "paused";
  return summary.reason ? "failed" : "idle";
}
