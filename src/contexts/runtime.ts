// The runtime's own door to a context: records that no caller and no agent can write, and what it shares in their names.
import { HoldfastError } from "../ledger/error.ts";
import type { EventInput, Fence, Seq } from "../ledger/store.ts";
import { RESULTS } from "./authority.ts";
import { writeChecked } from "./checked-write.ts";
import type { Context } from "./context.ts";
import type { ContextDecision, ContextLedger } from "./context-ledger.ts";
import { entryAt, entryOf, type FoldState, presentAt, recordName, recordsOf, type WorkflowKey } from "./fold.ts";
import { readEntry } from "./read-value.ts";
import type { Checker } from "./schemas.ts";
import { appendedEvent, sharedEvent, withQuota } from "./shared-data.ts";
import { encodeValue, type Json } from "./values.ts";

type RuntimeRecord =
  | { type: "workflow.begun"; value: unknown; keys: WorkflowKey[] }
  | { type: "workflow.recorded"; value: unknown; phase: string }
  | { type: "input.given"; value: unknown; phase: string; run: number; key: string };

interface RuntimeWrite {
  author: string;
  /** What the values and the result come from. */
  call?: string;
  records?: RuntimeRecord[];
  values?: Record<string, unknown>;
  /** Added to `accumulated_results`, once for each author and call. */
  result?: unknown;
  /** Records that the decision read, with the version it saw. */
  expect?: Record<string, Seq>;
}

export interface Runtime {
  /** Contract: one transaction. */
  write(write: RuntimeWrite): Promise<void>;
  /** As the timeline of now has it. */
  record(name: string): Promise<{ value: Json; version: Seq } | undefined>;
  /** The versions that a restore has gone behind. */
  pastRecords(name: string): Promise<Json[]>;
}

export interface RuntimeOptions {
  ledger: ContextLedger;
  checker: Checker;
  lease?: Fence;
}

/** By the handle it belongs to: nothing on the handle itself leads here, and the handle of an agent has none. */
const doors = new WeakMap<Context, RuntimeOptions>();

export function openDoor(context: Context, opts: RuntimeOptions): void {
  doors.set(context, opts);
}

/** Contract: for the hub and workflows; never exported by the package, and never given to a tool. */
export function runtimeOf(context: Context): Runtime {
  const opts = doors.get(context);
  if (!opts)
    throw new HoldfastError(
      "refused",
      "only a context as `contexts.get(id)` gives it can do this, not that of an agent",
    );
  return createRuntime(opts);
}

function createRuntime({ ledger, checker, lease }: RuntimeOptions): Runtime {
  return {
    async write({ author, call, records = [], values = {}, result, expect = {} }) {
      const shared = Object.entries(values).map(([key, value]) => ({ key, ...encodeValue(key, value) }));
      const kept = records.map(({ value, ...record }) => ({ record, ...encodeValue(record.type, value) }));
      const added = result === undefined ? undefined : encodeValue(RESULTS, result);
      const blobs = [...shared, ...kept, ...(added ? [added] : [])].flatMap(({ blob }) => blob ?? []);
      const write = { author, ...(call && { call }) };
      const decide = (state: FoldState): ContextDecision => {
        const adds = added && !hasResult(state, author, call) ? added : undefined;
        const events: EventInput[] = [
          ...shared.map(({ key, facts }) => sharedEvent(key, facts, write)),
          ...(adds ? [appendedEvent(RESULTS, adds.facts, write)] : []),
          ...kept.map(({ record: { type, ...more }, facts }) => recordEvent(type, { ...more, ...facts }, author)),
        ];
        const growth = [
          ...shared.map(({ key, facts }) => ({ key, bytes: facts.bytes, replaces: true })),
          ...(adds ? [{ key: RESULTS, bytes: adds.facts.bytes, replaces: false }] : []),
        ];
        for (const [entity, version] of Object.entries(expect)) ledger.expect(entity, version);
        const reads = [...Object.keys(expect), ...(growth.length > 0 ? ["ctx:data"] : [])];
        const decision = { events, reads, blobs };
        return events.length > 0 && growth.length > 0 ? withQuota(state, growth, decision) : decision;
      };
      const check = async (state: FoldState) => {
        for (const [key, value] of Object.entries(values)) await checker.value(state, key, value);
      };
      await writeChecked(ledger, { check, decide }, lease ? { lease } : {});
    },
    async record(name) {
      const state = recordsOf(await ledger.catchUp());
      const entry = presentAt(state, name, { now: Date.now() });
      if (!entry) return undefined;
      const { value } = await readEntry(ledger, state, { key: name, entry, checker });
      return { value, version: state.keys.get(name)?.at(-1)?.seq ?? entry.seq };
    },
    async pastRecords(name) {
      const state = recordsOf(await ledger.catchUp());
      const current = new Set<Seq>();
      for (let at = entryAt(state, name); at; at = entryOf(state, name, at.prev)) current.add(at.seq);
      const found: Json[] = [];
      for (const entry of state.keys.get(name) ?? [])
        if (!current.has(entry.seq)) found.push((await readEntry(ledger, state, { key: name, entry, checker })).value);
      return found;
    },
  };
}

/** On the timeline of now: a restore that went behind it lets it be added again. */
function hasResult(state: FoldState, author: string, call: string | undefined): boolean {
  for (let at = entryAt(state, RESULTS); at; at = entryOf(state, RESULTS, at.prev))
    if (at.author === author && at.call === call) return true;
  return false;
}

function recordEvent(type: RuntimeRecord["type"], data: Record<string, unknown>, actor: string): EventInput {
  const touches = [recordEntity(recordName({ type, data }))];
  // What a workflow declares decides who may write: every write guards the configuration.
  return { type, actor, touches: type === "workflow.begun" ? [...touches, "ctx:config"] : touches, data };
}

export const recordEntity = (name: string): string => `record:${name}`;
