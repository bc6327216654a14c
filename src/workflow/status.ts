// How a workflow stands, for whoever asks: data from the context alone, also while another process runs it or after it died.
import type { Context } from "../contexts/context.ts";
import type { ContextStatus } from "../contexts/listing.ts";
import { type PhaseState, planOf } from "./plan.ts";
import { AUTHOR, type PhaseOutline, type PhaseRecord, readHeader, readRecords } from "./records.ts";
import type { RunState } from "./session.ts";

export interface PhaseStatus {
  id: string;
  title: string;
  /** The type of agent; `person` for one that waits for input. */
  agent: string;
  needs: string[];
  state: PhaseState | "interrupted";
  /** How often it was begun, in all. */
  runs: number;
  round: number;
  startedAt?: number;
  endedAt?: number;
  /** Time at work. */
  activeMs: number;
  rounds: number;
  requests: number;
  tokens: number;
  /** Highest memory of the process while it ran, in bytes. */
  peakRss: number;
  /** Bytes of what it gave. */
  bytes: number;
  /** Its agent was taken up from a process that did not end it. */
  resumed: boolean;
  error?: string;
  /** What it waits for. */
  waitsFor?: { question: string; keys: Record<string, unknown> };
  items?: { total: number; done: number; failed: number };
  loop?: { max: number; repeat: string[] };
}

export interface WorkflowRun {
  context: string;
  name: string;
  description: string;
  file: string;
  state: RunState;
  startedAt: number;
  endedAt?: number;
  inputs: Record<string, unknown>;
  /** Each after what it needs. */
  phases: PhaseStatus[];
}

/** Undefined when the context runs no workflow. `status` of the context: without it a run whose process died counts as running. */
export async function workflowStatus(
  context: Context,
  opts: { status?: ContextStatus } = {},
): Promise<WorkflowRun | undefined> {
  const header = await readHeader(context);
  if (!header) return undefined;
  const records = await readRecords(
    context,
    header.phases.map((one) => one.id),
  );
  const { standings } = planOf(header.phases, records);
  const phases = header.phases.map((one) => statusOf(one, standings.get(one.id)!, records.get(one.id)));
  const worker = (await context.agents())[AUTHOR]?.status;
  const { name, description, file, inputs, startedAt } = header;
  const open = stateOf(phases, worker);
  const state = open === "running" && opts.status === "interrupted" ? "interrupted" : open;
  if (state === "interrupted") for (const one of phases) if (one.state === "running") one.state = "interrupted";
  const ended = state === "done" ? Math.max(startedAt, ...phases.map((one) => one.endedAt ?? 0)) : undefined;
  return {
    ...{ context: context.id, name, description, file, state, startedAt },
    ...(ended !== undefined && { endedAt: ended }),
    ...{ inputs, phases },
  };
}

function stateOf(phases: PhaseStatus[], worker: unknown): RunState {
  const states = phases.map((one) => one.state);
  if (states.every((one) => one === "done" || one === "skipped")) return "done";
  if (worker === "running") return "running";
  if (states.includes("waiting")) return "waiting";
  return states.includes("failed") ? "failed" : "paused";
}

function statusOf(outline: PhaseOutline, state: PhaseState, record: PhaseRecord | undefined): PhaseStatus {
  const { id, title, agent, needs, until, exports } = outline;
  const { items, error } = record ?? {};
  return {
    ...{ id, title, agent, needs, state, runs: record?.run ?? 0, round: record?.round ?? 0 },
    ...(record && { startedAt: record.startedAt }),
    ...(record?.endedAt !== undefined && { endedAt: record.endedAt }),
    activeMs: record?.activeMs ?? 0,
    rounds: record?.rounds ?? 0,
    requests: record?.requests ?? 0,
    tokens: record?.tokens ?? 0,
    peakRss: record?.peakRss ?? 0,
    bytes: Object.values(record?.exports ?? {}).reduce((sum, one) => sum + one, 0),
    resumed: record?.resumed ?? false,
    ...(error !== undefined && state !== "done" && { error }),
    ...(state === "waiting" && { waitsFor: { question: record?.question ?? "", keys: exports } }),
    ...(items && { items: { total: items.total, done: items.done, failed: Object.keys(items.errors).length } }),
    ...(until && { loop: { max: until.max, repeat: until.repeat } }),
  };
}
