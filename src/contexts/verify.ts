// Verification: the store's own, then each context folded anew from its first event, and each value looked at.
import { createHash } from "node:crypto";
import type { Damage, Seq, Store } from "../ledger/store.ts";
import type { Context } from "./context.ts";
import { openContextLedger } from "./context-ledger.ts";
import { createContentHash } from "./export.ts";
import { contextSlice, type FoldState } from "./fold.ts";
import { isContextId, listContexts } from "./listing.ts";
import type { ValueProblem } from "./read-value.ts";

export interface ContextVerdict {
  id: string;
  events: Seq;
  /** Of what the events say; the same in every store and after an import. */
  stateHash: string;
  /** Of everything recorded, the loop's events too. */
  contentHash: string;
  problems: ValueProblem[];
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
  if (id === undefined)
    for await (const { ledger } of store.list({ prefix: "ctx_" }))
      if (!isContextId(ledger)) damage.push({ ledger, what: "its name is not the id of a context: it is passed over" });
  const contexts: ContextVerdict[] = [];
  for (const one of id === undefined ? (await listContexts(store)).map((info) => info.id) : [id]) {
    if (damage.some((hurt) => hurt.ledger === one)) continue;
    const upTo = await store.head(one); // everything is compared at one position: someone may be at work in it
    const usual = await openContextLedger(store, one, { upTo });
    const anew = await openContextLedger(store, one, { upTo, fromSnapshot: false });
    const stateHash = hashOf(anew.state);
    if (stateHash !== hashOf(usual.state))
      damage.push({ ledger: one, seq: upTo, what: "the snapshot differs from what the events say" });
    const problems = await (await open(one)).problems();
    contexts.push({ id: one, events: upTo, stateHash, contentHash: await contentHash(store, one, upTo), problems });
  }
  return { ok: damage.length === 0 && contexts.every((one) => one.problems.length === 0), contexts, damage };
}

/** What its events say up to there, folded anew: the same in every store. */
export async function contextStateHash(store: Store, id: string, upTo: Seq): Promise<string> {
  return hashOf((await openContextLedger(store, id, { upTo, fromSnapshot: false })).state);
}

async function contentHash(store: Store, id: string, upTo: Seq): Promise<string> {
  const content = createContentHash();
  for await (const event of store.read(id, { upTo })) content.add(event);
  return content.digest();
}

function hashOf(state: FoldState): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(contextSlice.freeze(state))))
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
