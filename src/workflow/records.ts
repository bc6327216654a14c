// What is durable about a run: one record for the workflow, one for each phase, and the settling of a finished phase exactly once.

import { RESULTS } from "../contexts/authority.ts";
import type { Context } from "../contexts/context.ts";
import { recordEntity, runtimeOf } from "../contexts/runtime.ts";
import { resultEntry } from "../hub/results.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { Phase, Workflow } from "./definition.ts";
import { asHeader, asPhaseRecord, oldHeader, oldRecord, oldRuns } from "./old-records.ts";

const TEXT_CHARS = 2_000;
export const AUTHOR = "workflow";

export interface ItemsRecord {
  total: number;
  done: number;
  /** Version of the shared data that the list was read from. */
  version: number;
  /** Tries of the items that failed before, and why those that failed for good did. */
  tries: Record<string, number>;
  errors: Record<string, string>;
}

export interface PhaseRecord {
  state: "running" | "waiting" | "done" | "skipped" | "failed";
  /** Counts every beginning anew; never used twice, so that agents' names are not either. */
  run: number;
  /** Of the loop that the phase is in. */
  round: number;
  /** The last round before the loop gives up. */
  limit?: number;
  /** Finished, and to be done again: `until` does not hold yet. */
  again?: boolean;
  /** Tries since somebody last asked for it. */
  tries: number;
  agent: string;
  /** Which run of each phase it needs this one is based on. */
  needs: Record<string, number>;
  startedAt: number;
  endedAt?: number;
  activeMs: number;
  rounds: number;
  requests: number;
  tokens: number;
  /** Its agent was begun by a process that did not end it. */
  resumed?: boolean;
  peakRss: number;
  /** Bytes of each key. */
  exports: Record<string, number>;
  text?: string;
  error?: string;
  /** Failed because the loop ended without success. */
  exhausted?: boolean;
  question?: string;
  /** Only in records of older Holdfasts: versions of the awaited keys that did not count as an answer. */
  since?: Record<string, number>;
  items?: ItemsRecord;
}

/** What can be said about a phase without its templates. */
export interface PhaseOutline {
  id: string;
  title: string;
  agent: string;
  needs: string[];
  wait: boolean;
  exports: Record<string, unknown>;
  when?: string;
  foreach?: string;
  until?: { when: string; max: number; repeat: string[] };
}

export interface Header {
  name: string;
  description: string;
  file: string;
  inputs: Record<string, unknown>;
  phases: PhaseOutline[];
  startedAt: number;
}

export type Records = Map<string, PhaseRecord>;

export async function readHeader(context: Context): Promise<Header | undefined> {
  const kept = await runtimeOf(context).record("workflow");
  return kept ? asHeader(kept.value) : oldHeader(context);
}

export async function readRecords(context: Context, ids: Iterable<string>): Promise<Records> {
  const records: Records = new Map();
  const runtime = runtimeOf(context);
  for (const id of ids) {
    const kept = await runtime.record(`phase/${id}`);
    const found = kept ? asPhaseRecord(kept.value) : await oldRecord(context, id);
    if (found !== undefined) records.set(id, found);
  }
  return records;
}

export async function saveRecord(context: Context, id: string, record: PhaseRecord): Promise<void> {
  const records = [{ type: "workflow.recorded", phase: id, value: record } as const];
  await runtimeOf(context).write({ author: AUTHOR, records });
}

/** The beginning of a run, or another outline of it: says whose its keys are. The inputs are shared data like any other. */
export async function saveHeader(context: Context, header: Header, inputs: Record<string, unknown>): Promise<void> {
  const outlines = header.phases.map(({ exports, ...one }) => ({ ...one, keys: Object.keys(exports) }));
  const all = new Set([...Object.keys(header.inputs), ...outlines.flatMap((one) => one.keys)]);
  const keys = [...all].map((key) => {
    const givers = outlines.filter((one) => one.keys.includes(key));
    const idsOf = (wait: boolean) => givers.filter((one) => one.wait === wait).map((one) => one.id);
    return { key, input: Object.hasOwn(header.inputs, key), phases: idsOf(false), people: idsOf(true) };
  });
  const records = [{ type: "workflow.begun", value: header, keys } as const];
  await runtimeOf(context).write({ author: AUTHOR, records, values: inputs });
}

/** A person's answer. Contract: `conflict` when the phase has moved on since it was read. */
export async function saveInput(
  context: Context,
  given: { phase: string; run: number; values: Record<string, unknown> }[],
  author: string,
): Promise<void> {
  const runtime = runtimeOf(context);
  const expect: Record<string, number> = {};
  for (const { phase, run } of given) {
    const kept = await runtime.record(`phase/${phase}`);
    const record = kept && asPhaseRecord(kept.value);
    if (record && (record.state !== "waiting" || record.run !== run))
      throw new HoldfastError("conflict", `${phase} no longer waits for this answer: see how the workflow stands`);
    expect[recordEntity(`phase/${phase}`)] = kept?.version ?? 0;
  }
  const records = given.flatMap(({ phase, run, values }) =>
    Object.entries(values).map(([key, value]) => ({ type: "input.given", phase, run, key, value }) as const),
  );
  await runtime.write({ author, records, expect });
}

/** What a person gave to this run of a phase. */
export async function readInput(
  context: Context,
  id: string,
  run: number,
  keys: string[],
): Promise<Record<string, unknown>> {
  const runtime = runtimeOf(context);
  const values: Record<string, unknown> = {};
  for (const key of keys) {
    const given = await runtime.record(`input/${id}/${run}/${key}`);
    if (given) values[key] = given.value;
  }
  return values;
}

/** Also over what a restore went behind: an agent of that name has worked already. */
export async function highestRun(context: Context, id: string, record: PhaseRecord | undefined): Promise<number> {
  const past = (await runtimeOf(context).pastRecords(`phase/${id}`)).map(asPhaseRecord);
  return Math.max(record?.run ?? 0, ...past.map((one) => one.run), ...(await oldRuns(context, id)));
}

export function headerOf(workflow: Workflow, inputs: Record<string, unknown>, startedAt: number): Header {
  const { name, description, file, phases } = workflow;
  return { name, description, file, inputs, phases: phases.map(outlineOf), startedAt };
}

function outlineOf(phase: Phase): PhaseOutline {
  const { id, title, agent, needs, wait, when, foreach, until } = phase;
  const exports = Object.fromEntries(Object.entries(phase.exports).map(([key, { schema }]) => [key, schema]));
  return {
    ...{ id, title, agent, needs, wait, exports },
    ...(when && { when: when.text }),
    ...(foreach && { foreach: foreach.text }),
    ...(until && { until: { when: until.text, max: until.max, repeat: until.repeat } }),
  };
}

/** Marks the result and the checkpoint of one run of a phase. */
const settleMark = (id: string, record: PhaseRecord): string => `workflow:${id}.${record.run}`;

/** The finished record, what the phase gives and its entry in the results, in one transaction; then its checkpoint. */
export async function settle(
  context: Context,
  phase: Pick<Phase, "id" | "agent">,
  record: PhaseRecord,
  given: { exports: Record<string, unknown>; text: string },
): Promise<void> {
  const call = settleMark(phase.id, record);
  const infos = new Map((await context.list()).map((one) => [one.key, one]));
  // What the agent has shared by itself keeps its own provenance.
  const shared = (key: string): boolean =>
    infos.get(key)?.author === record.agent && infos.get(key)?.bytes === record.exports[key];
  const fresh = Object.entries(given.exports).filter(([key]) => !shared(key));
  const { result, values } = resultEntry({
    ...{ agent: record.agent, type: phase.agent, phase: phase.id, at: record.endedAt ?? 0 },
    ...given,
  });
  await runtimeOf(context).write({
    ...{ author: record.agent, call, values: { ...Object.fromEntries(fresh), ...values } },
    records: [{ type: "workflow.recorded", phase: phase.id, value: record }],
    ...((record.state === "done" || record.exhausted) && { result }),
  });
  await finishSettling(context, [phase], new Map([[phase.id, record]]));
}

/** What one item of a phase gave: once, also when it is asked again after a kill. */
export async function settleItem(
  context: Context,
  phase: Pick<Phase, "id" | "agent">,
  item: { agent: string; run: number; index: number; at: number },
  given: { exports: Record<string, unknown>; text: string },
): Promise<void> {
  const { agent, run, index, at } = item;
  // Its exports are keys of the phase, where every item's stand together: nothing can refer to one of them.
  const { result, values } = resultEntry({ agent, type: phase.agent, phase: phase.id, item: index, at, ...given });
  await runtimeOf(context).write({ author: agent, call: `workflow:${phase.id}.${run}.${index}`, result, values });
}

/** What a kill after the transaction left undone (in a run of an older Holdfast: the result too). Contract: called in the order in which the phases finished. */
export async function finishSettling(
  context: Context,
  phases: readonly Pick<Phase, "id" | "agent">[],
  records: Records,
): Promise<void> {
  const finished = [...records].filter(([, one]) => one.state === "done" || one.exhausted);
  if (finished.length === 0) return;
  const results = (await context.history(RESULTS)).filter((one) => one.current);
  const marked = new Set((await context.checkpoints()).map((one) => one.note));
  finished.sort(([, a], [, b]) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  for (const [id, record] of finished) {
    const call = settleMark(id, record);
    // An older hub added the result of an agent in its own name.
    const own = record.agent === `${id}.${record.run}` ? record.agent : undefined;
    const there = results.some((one) => one.call === call || one.author === own);
    const phase = phases.find((one) => one.id === id);
    if (!there && phase) await addResult(context, phase, record, call);
    if (!marked.has(call)) await context.checkpoint(id, { auto: true, note: call, author: AUTHOR });
  }
}

async function addResult(
  context: Context,
  { id, agent: type }: Pick<Phase, "id" | "agent">,
  record: PhaseRecord,
  call: string,
): Promise<void> {
  const exports: Record<string, unknown> = {};
  for (const key of Object.keys(record.exports)) exports[key] = (await context.read(key)) ?? null;
  const { agent, text = "", endedAt: at = 0 } = record;
  const { result, values } = resultEntry({ agent, type, phase: id, at, text, exports });
  await runtimeOf(context).write({ author: agent, call, result, values });
}

export const shortened = (text: string): string => (text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS)}…` : text);

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
