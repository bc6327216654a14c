// Getting a value back, and what to do when it cannot be had: the last good version of its key stands in, and the loss is reported.

import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { Seq, StoredEvent } from "../ledger/store.ts";
import type { ContextLedger } from "./context-ledger.ts";
import { entryOf, type FoldState, type SharedEntry } from "./fold.ts";
import type { Checker } from "./schemas.ts";
import { decodeBlob, type Json } from "./values.ts";

/** From so many short items on, one read of the whole stretch beats one read for each. */
const TOGETHER = 8;

export interface ValueProblem {
  key: string;
  /** The version that cannot be had. */
  version: Seq;
  reason: string;
  /** The version that stands in for it; undefined: there is none, or the rest of a list. */
  recoveredFrom?: Seq;
}

export const isValueProblem = (value: unknown): value is ValueProblem =>
  isRecord(value) &&
  typeof value.key === "string" &&
  typeof value.version === "number" &&
  typeof value.reason === "string";

interface Found {
  value: Json;
  problems: ValueProblem[];
}

/** Contract: throws `damaged` when no version of the key is good. */
export async function readEntry(
  ledger: ContextLedger,
  state: FoldState,
  { key, entry, checker }: { key: string; entry: SharedEntry; checker: Checker },
): Promise<Found> {
  const problems: ValueProblem[] = [];
  for (let at: SharedEntry | undefined = entry; at; at = entryOf(state, key, at.prev)) {
    if (at.op === "remove") break;
    const whole = await assemble(ledger, state, key, at);
    if ("reason" in whole) {
      problems.push({ key, version: at.seq, reason: whole.reason });
      continue;
    }
    // What was written under the schema of today was checked then.
    const isOlder = (state.schemaAt.get(key) ?? 0) > at.seq;
    const misfit = isOlder ? await checker.misfit(state, key, whole.value) : undefined;
    if (misfit === undefined) {
      for (const one of problems) one.recoveredFrom = at.seq;
      return { value: whole.value, problems: [...problems, ...whole.lost] };
    }
    problems.push({ key, version: at.seq, reason: misfit });
  }
  const first = problems[0] ?? { key, version: entry.seq, reason: "it was removed" };
  throw new HoldfastError(
    "damaged",
    `${key}: version ${first.version} cannot be had (${first.reason}), and no earlier version is good: share it again or remove it`,
    { detail: first },
  );
}

type Whole = { value: Json; lost: ValueProblem[] } | { reason: string };

async function assemble(ledger: ContextLedger, state: FoldState, key: string, entry: SharedEntry): Promise<Whole> {
  if (entry.op === "set") {
    const one = await single(ledger, entry);
    return "value" in one ? { value: one.value, lost: [] } : one;
  }
  const chain: SharedEntry[] = [];
  for (let at: SharedEntry | undefined = entry; at && chain.length < entry.items; at = entryOf(state, key, at.prev))
    chain.unshift(at);
  const lost: ValueProblem[] = [];
  const list: Json[] = [];
  const base = entryOf(state, key, entry.base);
  if (base) {
    try {
      const found = await readEntry(ledger, state, { key, entry: base, checker: NO_SCHEMA });
      lost.push(...found.problems);
      if (Array.isArray(found.value)) for (const one of found.value) list.push(one);
    } catch {
      lost.push({
        key,
        version: base.seq,
        reason: "the list it began with cannot be had; the items after it are kept",
      });
    }
  }
  const short = await inlineValues(ledger, chain);
  for (const one of chain) {
    const known = short.get(one.seq);
    const item = known === undefined ? await single(ledger, one) : { value: known };
    if ("value" in item) list.push(item.value);
    else lost.push({ key, version: one.seq, reason: `one item: ${item.reason}` });
  }
  return { value: list, lost };
}

const NO_SCHEMA: Checker = {
  isFree: () => true,
  value: async () => {},
  item: async () => {},
  removal: () => {},
  misfit: async () => undefined,
};

async function single(ledger: ContextLedger, entry: SharedEntry): Promise<{ value: Json } | { reason: string }> {
  const { store, id } = ledger;
  if (entry.inline) {
    const known = ledger.recent(entry.seq);
    if (known !== undefined) return { value: known };
    for await (const event of store.read(id, { after: entry.seq - 1, upTo: entry.seq })) {
      return { value: inlineValue(event) };
    }
    return { reason: "its event is missing" };
  }
  const bytes = entry.hash === undefined ? undefined : await store.blob(entry.hash);
  if (!bytes) return { reason: `blob ${entry.hash?.slice(0, 12)} is missing or damaged` };
  return { value: decodeBlob(bytes) };
}

/** Contract: of an event whose entry is `inline`. */
const inlineValue = ({ data }: StoredEvent): Json => (data as { value: Json }).value;

async function inlineValues({ store, id }: ContextLedger, chain: SharedEntry[]): Promise<Map<Seq, Json>> {
  const wanted = new Set(chain.filter((one) => one.inline).map((one) => one.seq));
  const values = new Map<Seq, Json>();
  const [first, last] = [chain[0], chain.at(-1)];
  if (!first || !last || wanted.size < TOGETHER) return values;
  const range = { after: first.seq - 1, upTo: last.seq, types: ["data.appended"] };
  for await (const event of store.read(id, range)) {
    if (wanted.has(event.seq)) values.set(event.seq, inlineValue(event));
  }
  return values;
}
