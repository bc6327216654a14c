// Listing and status: what each context is, and whether it can be taken up again. Derived from ledgers and leases, never written.

import { isHoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { HeldBy, LedgerSummary, Seq, Store } from "../ledger/store.ts";

export type ContextStatus = "running" | "waiting" | "paused" | "interrupted" | "completed" | "failed" | "idle";

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
  /** Work beside conversations: nobody means it who says "the last one". */
  aside?: boolean;
}

export interface ForkOrigin {
  context: string;
  /** Its name; of a fork from an event which that was. */
  checkpoint: string;
  /** It began as a copy up to there. */
  seq: Seq;
  /** In the middle of a turn of the lead: it is gone on with without a prompt. */
  goesOn?: true;
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
  /** Work without the loop goes on, and who works so: their leases count. */
  work?: boolean;
  agents?: string[];
  /** Agents of the loop with an open turn. */
  busy?: string[];
  /** Work beside conversations, such as reading one for memory. */
  aside?: boolean;
  /** Its import has not ended. */
  importing?: boolean | null;
}

export const LEAD_AGENT = "lead";

/** What the ids of contexts begin with. */
const BEGINNING = "ctx_";
const CONTEXT_ID = /^ctx_[0-9A-Za-z_-]{1,100}$/;

/** A store that others write to may hold any name, and a context's becomes part of paths. Contract: what is none is neither listed, hosted, gone on with nor removed as one. */
export const isContextId = (ledger: string): boolean => CONTEXT_ID.test(ledger);

/** The contexts among a store's ledgers. */
export async function* contextEntries(store: Store): AsyncGenerator<LedgerSummary> {
  for await (const entry of store.list({ prefix: BEGINNING })) if (isContextId(entry.ledger)) yield entry;
}

/** Newest first. */
export async function listContexts(store: Store): Promise<ContextInfo[]> {
  const found: ContextInfo[] = [];
  for await (const entry of contextEntries(store)) {
    if (!summaryOf(entry).importing) found.push(await describeContext(store, entry));
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
}

/** One of them, as it stands now. Contract: undefined when there is none of that id, or its import has not ended. */
export async function contextInfo(store: Store, id: string): Promise<ContextInfo | undefined> {
  if (!isContextId(id)) return undefined;
  for await (const entry of store.list({ prefix: id, limit: 1 }))
    if (entry.ledger === id && !summaryOf(entry).importing) return describeContext(store, entry);
  return undefined;
}

/** Contract: of its types, whatever is stored: what does not fit is left out. */
export function summaryOf({ summary }: Pick<LedgerSummary, "summary">): Summary {
  if (!isRecord(summary)) return {};
  const { title, root, open, reason, rounds, ttlMs, work, agents, busy, aside, importing } = summary;
  const { checkpoint, forkOf } = summary;
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof root === "string" && { root }),
    ...(typeof open === "boolean" && { open }),
    ...((typeof reason === "string" || reason === null) && { reason }),
    ...(typeof rounds === "number" && { rounds }),
    ...((typeof ttlMs === "number" || ttlMs === null) && { ttlMs }),
    ...(isCheckpoint(checkpoint) && { checkpoint }),
    ...((isOrigin(forkOf) || forkOf === null) && { forkOf }),
    ...(typeof work === "boolean" && { work }),
    ...(isTexts(agents) && { agents }),
    ...(isTexts(busy) && { busy }),
    ...(typeof aside === "boolean" && { aside }),
    ...((typeof importing === "boolean" || importing === null) && { importing }),
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

const isCheckpoint = (value: unknown): value is NonNullable<Summary["checkpoint"]> =>
  isRecord(value) && typeof value.name === "string" && typeof value.at === "number";

const isOrigin = (value: unknown): value is ForkOrigin =>
  isRecord(value) && [value.context, value.checkpoint].every((one) => typeof one === "string");

async function describeContext(store: Store, entry: LedgerSummary): Promise<ContextInfo> {
  const summary = summaryOf(entry);
  const heldBy = await holderOf(store, entry.ledger, [...(summary.agents ?? []), ...(summary.busy ?? [])]);
  const status = statusOf(summary, heldBy);
  const { asks, rounds } = summary.open ? await openTurnOf(store, entry) : { asks: false, rounds: 0 };
  return {
    id: entry.ledger,
    title: summary.title ?? "",
    root: summary.root ?? "",
    status: status === "running" && asks ? "waiting" : status,
    createdAt: entry.createdAt,
    updatedAt: entry.updatedAt,
    events: entry.head,
    rounds: (summary.rounds ?? 0) + rounds,
    ...(heldBy ? { heldBy } : {}),
    ...(typeof summary.ttlMs === "number" ? { ttlMs: summary.ttlMs } : {}),
    ...(summary.aside ? { aside: true } : {}),
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

export const agentLease = (context: string, agent: string): string => `${agentLeases(context)}${agent}`;

/** What the names of all its agents' leases begin with. */
export const agentLeases = (context: string): string => `agent:${context}/`;

/** An open turn without a live holder is interrupted, without anyone having written so. */
function statusOf(summary: Summary, heldBy: HeldBy | undefined): ContextStatus {
  if (summary.open || summary.work) return heldBy?.alive ? "running" : "interrupted";
  if (summary.reason === "done") return "completed";
  // Stopped by a person or by a limit: it can be gone on with.
  if (summary.reason === "interrupted" || summary.reason === "limit") return "paused";
  return summary.reason ? "failed" : "idle";
}

/** So far back it is looked: where more came since, somebody is running. */
const TAIL = 500;

/**
 * What the summary does not say of a turn that is open. `asks`: a person was asked, nobody has answered, and the call that asked has no result.
 * `rounds`: replies that the lead has got in it. Read by the names of the events: whoever writes them is above this.
 */
async function openTurnOf(store: Store, { ledger, head }: LedgerSummary): Promise<{ asks: boolean; rounds: number }> {
  const open = new Map<string, string>();
  let rounds = 0;
  const types = ["approval.asked", "approval.answered", "tool.finished", "turn.started", "reply.received"];
  try {
    for await (const { type, actor, data: stored } of store.read(ledger, { after: Math.max(0, head - TAIL), types })) {
      const data = isRecord(stored) && "$spill" in stored ? stored.value : stored;
      const { requestId, callId } = isRecord(data) ? data : {};
      if (type === "turn.started") rounds = actor === LEAD_AGENT ? 0 : rounds;
      else if (type === "reply.received") rounds += actor === LEAD_AGENT ? 1 : 0;
      else if (type === "approval.asked") open.set(String(requestId), `${actor} ${callId}`);
      else if (type === "approval.answered") open.delete(String(requestId));
      else for (const [id, call] of open) if (call === `${actor} ${callId}`) open.delete(id);
    }
  } catch (error) {
    if (!isHoldfastError(error, "damaged")) throw error; // a listing goes on: verify says what is wrong
  }
  return { asks: open.size > 0, rounds };
}
