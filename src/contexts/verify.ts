// Owns verification: the store's own, then each context folded anew from its first event, and each value looked at.
import { createHash } from "node:crypto";
import type { Damage, Seq, Store } from "../ledger/store.ts";
import type { Context } from "./context.ts";
import { createContentHash } from "./export.ts";
import { applyEvent, type FoldState, initialState, OWN_TYPES } from "./fold.ts";
import { listContexts } from "./listing.ts";
import type { Problem } from "./read-value.ts";
import { freeze, openTimeline } from "./timeline.ts";

export interface ContextVerdict {
  id: string;
  events: Seq;
  /** Of what the events say; the same in every store and after an import. */
  stateHash: string;
  /** Of everything recorded, the loop's events too. */
  contentHash: string;
  problems: Problem[];
}

export interface ContextsVerdict {
  ok: boolean;
  contexts: ContextVerdict[];
  damage: Damage[];
}

export async function verifyContexts(
  store: Store,
  open: (id: string) => Promise<Context>,
  id?: string,
): Promise<ContextsVerdict> {
  const { damage } = await store.verify(id === undefined ? {} : { ledger: id });
  const contexts: ContextVerdict[] = [];
  for (const one of id === undefined ? (await listContexts(store)).map((info) => info.id) : [id]) {
    if (damage.some((hurt) => hurt.ledger === one)) continue;
    const usual = await openTimeline(store, one); // from its snapshot, where there is one
    const { state, contentHash } = await foldFromZero(store, one, usual.state.seq);
    const stateHash = hashOf(state);
    if (stateHash !== hashOf(usual.state))
      damage.push({ ledger: one, seq: usual.state.seq, what: "the snapshot differs from what the events say" });
    const problems = await (await open(one)).problems();
    contexts.push({ id: one, events: state.seq, stateHash, contentHash, problems });
  }
  return { ok: damage.length === 0 && contexts.every((one) => one.problems.length === 0), contexts, damage };
}

async function foldFromZero(store: Store, id: string, upTo: Seq): Promise<{ state: FoldState; contentHash: string }> {
  const state = initialState();
  const content = createContentHash();
  const own = new Set(OWN_TYPES);
  for await (const event of store.read(id, { upTo })) {
    content.add(event);
    if (own.has(event.type)) applyEvent(state, event);
    state.seq = event.seq;
  }
  return { state, contentHash: content.digest() };
}

function hashOf(state: FoldState): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(freeze(state))))
    .digest("hex");
}

/** A snapshot may hold the same fields in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}
