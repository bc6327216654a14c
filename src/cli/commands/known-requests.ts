// Every request for approval that was ever made in a store, and how it was answered: what a part of an id may mean, and what a second answer is told.
import { listContexts } from "../../contexts/listing.ts";
import { unspill } from "../../ledger/spill.ts";
import type { Store } from "../../ledger/store.ts";
import type { ApprovalAnswer } from "../../mechanisms/approvals/events.ts";

export interface KnownRequest {
  requestId: string;
  answer?: Pick<ApprovalAnswer, "decision" | "from">;
}

const TYPES = ["approval.asked", "approval.answered"];

/** Contract: of a damaged ledger, what can be trusted. */
export async function knownRequests(store: Store): Promise<KnownRequest[]> {
  const known = new Map<string, KnownRequest>();
  for (const { id } of await listContexts(store)) await readInto(known, store, id).catch(() => undefined);
  return [...known.values()];
}

async function readInto(known: Map<string, KnownRequest>, store: Store, context: string): Promise<void> {
  for await (const event of store.read(context, { types: TYPES })) {
    const data = (await unspill(event.data, store.blob)).data as Answered;
    const request = known.get(data.requestId) ?? { requestId: data.requestId };
    if (event.type === "approval.answered") request.answer ??= { decision: data.decision, from: data.from };
    known.set(data.requestId, request);
  }
}

type Answered = Pick<ApprovalAnswer, "decision" | "from"> & { requestId: string };
