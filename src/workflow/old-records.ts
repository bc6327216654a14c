// The records that older Holdfasts kept among the shared data, where agents could write too: only what the runtime wrote there counts.

import type { Context } from "../contexts/context.ts";
import { isRecord } from "../ledger/guards.ts";
import type { Header, PhaseRecord } from "./records.ts";

const HEADER_KEY = "workflow";
const keyOf = (id: string): string => `${HEADER_KEY}.${id}`;

/** The runtime wrote without a call, in its own name; or at the end of a phase with a mark that no call of an agent has. */
interface Written {
  author: string;
  call?: string;
  version: number;
}

/** Contract: what the runtime wrote there, or what is looked at for whether it did. */
export const asPhaseRecord = (value: unknown): PhaseRecord => value as PhaseRecord;
export const asHeader = (value: unknown): Header => value as Header;

const bySaving = ({ author, call }: Written): boolean => author === "workflow" && call === undefined;
const bySettling = (id: string, { run, agent }: PhaseRecord, { author, call }: Written): boolean =>
  call === `workflow:${id}.${run}` && author === agent;

/** Newest first: what an agent wrote over it is passed by. */
async function written(context: Context, key: string): Promise<Written[]> {
  return (await context.history(key)).filter((one) => one.current && one.op === "set").reverse();
}

export async function oldHeader(context: Context): Promise<Header | undefined> {
  const found = (await written(context, HEADER_KEY)).find(bySaving);
  const value = found && (await context.read(HEADER_KEY, undefined, found));
  return value === undefined ? undefined : asHeader(value);
}

export async function oldRecord(context: Context, id: string): Promise<PhaseRecord | undefined> {
  for (const one of await written(context, keyOf(id))) {
    const value = await context.read(keyOf(id), undefined, one);
    if (!value) continue;
    const record = asPhaseRecord(value);
    if (bySaving(one) || bySettling(id, record, one)) return record;
  }
  return undefined;
}

/** The runs of versions that a restore has gone behind. */
export async function oldRuns(context: Context, id: string): Promise<number[]> {
  const runs: number[] = [];
  for (const { current, version } of await context.history(keyOf(id))) {
    if (current) continue;
    const then = await context.read(keyOf(id), undefined, { version });
    const { run } = isRecord(then) ? then : {};
    if (typeof run === "number" && Number.isSafeInteger(run)) runs.push(run);
  }
  return runs;
}

/** An answer that a person gave while an older Holdfast waited: agents' writes always had a call. */
export async function oldInput(
  context: Context,
  record: PhaseRecord,
  keys: string[],
): Promise<Record<string, unknown>> {
  if (!record.since) return {};
  const values: Record<string, unknown> = {};
  for (const key of keys) {
    const [last] = await written(context, key);
    if (!last || last.call !== undefined || last.version <= (record.since[key] ?? 0)) continue;
    values[key] = await context.read(key, undefined, last);
  }
  return values;
}
