// Owns what is durable about a run: one key for the workflow, one for each phase, and the settling of a finished phase exactly once.
import { type Context, RESULTS } from "../../contexts/index.ts";
import { HEADER_KEY, type Phase, phaseKey, type Workflow } from "./definition.ts";

/** Longer exports stand in `accumulated_results` as a reference. */
const WHOLE_BYTES = 8 * 1024;
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
  /** Versions of the awaited keys that do not count: they were there before. */
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
  return (await context.read(HEADER_KEY)) as Header | undefined;
}

export async function readRecords(context: Context, ids: Iterable<string>): Promise<Records> {
  const records: Records = new Map();
  for (const id of ids) {
    const found = await context.read(phaseKey(id));
    if (found !== undefined) records.set(id, found as unknown as PhaseRecord);
  }
  return records;
}

export async function saveRecord(context: Context, id: string, record: PhaseRecord): Promise<void> {
  await context.share(phaseKey(id), record, { author: AUTHOR });
}

/** Also over what a restore went behind: an agent of that name has worked already. */
export async function highestRun(context: Context, id: string, record: PhaseRecord | undefined): Promise<number> {
  let highest = record?.run ?? 0;
  for (const { current, version } of await context.history(phaseKey(id))) {
    if (current) continue;
    const then = (await context.read(phaseKey(id), undefined, { version })) as unknown as PhaseRecord | undefined;
    highest = Math.max(highest, then?.run ?? 0);
  }
  return highest;
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

/** The finished record and what the phase gives, in one transaction; then what follows from it. */
export async function settle(
  context: Context,
  id: string,
  record: PhaseRecord,
  exports: Record<string, unknown>,
): Promise<void> {
  const call = settleMark(id, record);
  const infos = new Map((await context.list()).map((one) => [one.key, one]));
  // What the agent has shared by itself keeps its own provenance.
  const shared = (key: string): boolean =>
    infos.get(key)?.author === record.agent && infos.get(key)?.bytes === record.exports[key];
  const fresh = Object.entries(exports).filter(([key]) => !shared(key));
  await context.shareAll({ ...Object.fromEntries(fresh), [phaseKey(id)]: record }, { author: record.agent, call });
  await finishSettling(context, new Map([[id, record]]));
}

/** What a kill after the transaction left undone. Contract: called in the order in which the phases finished. */
export async function finishSettling(context: Context, records: Records): Promise<void> {
  const finished = [...records].filter(([, one]) => one.state === "done" || one.exhausted);
  if (finished.length === 0) return;
  const results = (await context.history(RESULTS)).filter((one) => one.current);
  const marked = new Set((await context.checkpoints()).map((one) => one.note));
  finished.sort(([, a], [, b]) => (a.endedAt ?? 0) - (b.endedAt ?? 0));
  for (const [id, record] of finished) {
    const call = settleMark(id, record);
    // Also when the agent added its result by itself, as the hub lets it.
    const own = record.agent === `${id}.${record.run}` ? record.agent : undefined;
    const there = results.some((one) => one.call === call || one.author === own);
    const write = { author: record.agent, call };
    if (!there) await context.append(RESULTS, await resultOf(context, id, record), write);
    if (!marked.has(call)) await context.checkpoint(id, { auto: true, note: call, author: AUTHOR });
  }
}

async function resultOf(context: Context, id: string, record: PhaseRecord): Promise<unknown> {
  const infos = new Map((await context.list()).map((one) => [one.key, one]));
  const exports: Record<string, unknown> = {};
  for (const key of Object.keys(record.exports)) {
    const info = infos.get(key);
    if (!info) continue;
    const { bytes, version, type } = info;
    exports[key] = bytes <= WHOLE_BYTES ? await context.read(key) : { ref: key, version, type, bytes };
  }
  const { agent, run, text, endedAt: at } = record;
  return { phase: id, agent, run, at, exports, ...(text && { text }) };
}

export const shortened = (text: string): string => (text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS)}…` : text);

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
