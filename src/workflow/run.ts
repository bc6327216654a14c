// Running a workflow: what is ready runs, bounded; everything durable as it happens; nothing finished is done again.

import { isDeepStrictEqual } from "node:util";
import type { Context } from "../contexts/context.ts";
import { runtimeOf } from "../contexts/runtime.ts";
import type { AgentRunner } from "../hub/port.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { sameJson } from "../ledger/same-json.ts";
import { createSlots } from "../ledger/slots.ts";
import type { AcquireOptions, Fence } from "../ledger/store.ts";
import { didYouMean, quotedSource } from "../templates/source.ts";
import type { Phase, Workflow } from "./definition.ts";
import { createMemoryMeter } from "./memory.ts";
import { type Ending, runPhase } from "./phase.ts";
import { planOf } from "./plan.ts";
import { type Compose, composePrompt } from "./prompt.ts";
import {
  AUTHOR,
  finishSettling,
  type Header,
  headerOf,
  highestRun,
  type PhaseRecord,
  readHeader,
  readRecords,
  saveHeader,
  saveRecord,
} from "./records.ts";
import type { AskPerson, RunState, Session, WorkflowProgress } from "./session.ts";
import { type WorkflowRun, workflowStatus } from "./status.ts";
import { runWait } from "./wait.ts";

/** Wakes of workflows that are not over have this name: a host that finds nobody at work takes one up. */
export const WORKFLOW_WAKES = "workflow";

export interface WorkflowRunOptions {
  workflow: Workflow;
  context: Context;
  runner: AgentRunner;
  /** Only at the first time; a resumed run has them. */
  inputs?: Record<string, unknown>;
  /** Finished phases to do again all the same, with what depends on them. */
  repeat?: string[];
  onProgress?: (progress: WorkflowProgress) => void;
  /** Asks the person at once; without it a phase that waits ends the run as `waiting`. */
  ask?: AskPerson;
  /** Replaces how a prompt and the data that goes along are put together. */
  compose?: Compose;
  signal?: AbortSignal;
  /** Waits for a runner elsewhere whose lease has not lapsed yet, instead of `held` at once. */
  wait?: AbortSignal;
  /** Told of whom is waited for. */
  onWait?: AcquireOptions["onWait"];
  /** `leaves`: stopped by the signal it is left as it is, for another host; otherwise it is paused, until somebody asks for it. Default: it is paused. */
  whenStopped?: "leaves" | "pauses";
  /** Agents at one time; in place of what the workflow says. */
  concurrency?: number;
  now?: () => number;
  /** The context once more, writing under this lease: `(lease) => contexts.get(id, { lease })`. */
  fenced?: (lease: Fence) => Promise<Context>;
}

/**
 * The first time, a resume and a retry are the same: phases that are done stay done.
 * Contract: throws `held` while another process runs it, and `invalid` before anything is written; a failed phase is in the result.
 */
export async function runWorkflow(opts: WorkflowRunOptions): Promise<WorkflowRun> {
  const { workflow, now = Date.now } = opts;
  const inputs = inputsFor(workflow, await readHeader(opts.context), opts.inputs);
  for (const id of opts.repeat ?? []) known(workflow, id);
  const finished = await finishedAs(opts, inputs);
  if (finished) return finished;
  // Saved before the run counts as begun: whoever finds it interrupted needs the header to go on.
  if (!(await readHeader(opts.context))) await saveHeader(opts.context, headerOf(workflow, inputs, now()), inputs);
  const work = await opts.context.begin({
    ...{ agent: AUTHOR, wakesHosts: WORKFLOW_WAKES },
    ...(opts.wait && { wait: opts.wait, onWait: opts.onWait }),
  });
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, work.signal, ...(opts.signal ? [opts.signal] : [])]);
  try {
    const context = opts.fenced ? await opts.fenced(work.lease) : opts.context;
    const session = await open({ ...opts, now, context }, inputs, signal);
    session.tell({ kind: "workflow", at: now(), state: "running" });
    const state = await advance(session, own);
    const failed = [...session.records].find(([, one]) => one.state === "failed");
    if (state === "paused" && opts.whenStopped === "leaves") await work.leave();
    else if (state === "failed") await work.end("failed", { error: `${failed?.[0]}: ${failed?.[1].error}` });
    else await work.end(state === "done" ? "done" : "paused");
    session.tell({ kind: "workflow", at: now(), state });
    return { ...(await workflowStatus(context))!, state };
  } catch (error) {
    own.abort(error);
    await work.end("failed", { error: messageOf(error) }).catch(() => {});
    throw error;
  }
}

/** What is done, as it is written now, and not to be repeated: asking again changes nothing. */
async function finishedAs(opts: WorkflowRunOptions, inputs: Record<string, unknown>): Promise<WorkflowRun | undefined> {
  const { workflow, context, repeat = [] } = opts;
  const before = await readHeader(context);
  if (!before || repeat.length > 0) return undefined;
  if (!sameJson(before, headerOf(workflow, inputs, before.startedAt))) return undefined;
  // The process that finished the last phase may have died before it recorded the end.
  if ((await context.agents())[AUTHOR]?.status === "running") return undefined;
  const status = await workflowStatus(context);
  return status?.state === "done" ? status : undefined;
}

async function open(
  opts: WorkflowRunOptions & { now: () => number },
  inputs: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Session> {
  const { workflow, context, runner, now, onProgress } = opts;
  const before = await readHeader(context);
  const header = headerOf(workflow, inputs, before?.startedAt ?? now());
  const declared = (await runtimeOf(context).record("workflow")) !== undefined;
  if (!before) await saveHeader(context, header, inputs);
  // Also for a run that an older Holdfast began, which did not record who may write which key.
  else if (!declared || !sameJson(before, header)) await saveHeader(context, header, {});
  const ids = workflow.phases.map((one) => one.id);
  const records = await readRecords(context, ids);
  await finishSettling(context, workflow.phases, records);
  const runs = new Map<string, number>();
  for (const id of ids) runs.set(id, await highestRun(context, id, records.get(id)));
  const session: Session = {
    ...{ workflow, context, runner, records, runs, signal, now },
    slots: createSlots(opts.concurrency ?? workflow.concurrency),
    settling: createSlots(1),
    memory: createMemoryMeter(),
    compose: opts.compose ?? composePrompt,
    tokens: { used: [...records.values()].reduce((sum, one) => sum + one.tokens, 0) },
    tell(progress) {
      try {
        onProgress?.(progress);
      } catch {
        // An observer that throws does not stop the run.
      }
    },
    ...(opts.ask && { ask: opts.ask }),
  };
  await takeUp(session, opts.repeat ?? []);
  return session;
}

/** A loop that gave up gets as many rounds more; what is to be repeated no longer counts as done. */
async function takeUp({ workflow, context, records }: Session, repeat: string[]): Promise<void> {
  for (const phase of workflow.phases) {
    const record = records.get(phase.id);
    if (!record) continue;
    const { exhausted, error: _, ...rest } = record;
    let next: PhaseRecord;
    if (exhausted && phase.until) next = { ...rest, state: "done", again: true, limit: record.round + phase.until.max };
    else if (repeat.includes(phase.id) && record.state !== "running") {
      const { items: __, ...plain } = rest;
      next = { ...plain, state: "failed", error: "to be repeated" };
    } else continue;
    records.set(phase.id, next);
    await saveRecord(context, phase.id, next);
  }
}

/** Contract: when it returns nothing runs any more. */
async function advance(session: Session, own: AbortController): Promise<RunState> {
  const { workflow, records, signal } = session;
  const running = new Map<string, Promise<void>>();
  const failed = new Set<string>();
  /** Waiting phases that were asked after the last change. */
  const asked = new Set<string>();
  let fatal: { error: unknown } | undefined;

  const start = (phase: Phase, plan: ReturnType<typeof planOf>): void => {
    failed.delete(phase.id);
    const ended = (ending: Ending): void => {
      if (ending === "failed") failed.add(phase.id);
      if (ending === "waiting") asked.add(phase.id);
      else asked.clear(); // there may be an answer meanwhile
    };
    const work = phase.wait ? runWait(session, phase, plan) : runPhase(session, phase, plan);
    const settled = work.then(ended, (error: unknown) => {
      fatal ??= { error };
      own.abort(error);
    });
    running.set(
      phase.id,
      settled.then(() => void running.delete(phase.id)),
    );
  };

  for (;;) {
    const plan = planOf(workflow.phases, records, failed);
    if (!signal.aborted) {
      for (const phase of workflow.phases) {
        const standing = plan.standings.get(phase.id)!;
        const again = standing === "running" || (standing === "waiting" && !asked.has(phase.id));
        if (!running.has(phase.id) && (standing === "ready" || again)) start(phase, plan);
      }
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (fatal) throw fatal.error;
  const standings = [...planOf(workflow.phases, records).standings.values()];
  if (standings.every((one) => one === "done" || one === "skipped")) return "done";
  if (signal.aborted) return "paused";
  return standings.includes("waiting") ? "waiting" : "failed";
}

function known(workflow: Workflow, id: string): void {
  const ids = workflow.phases.map((one) => one.id);
  if (!ids.includes(id))
    throw new HoldfastError(
      "invalid",
      `there is no phase ${quotedSource(id)}${didYouMean(id, ids)}: the phases are ${ids.join(", ")}`,
    );
}

/** Given, or by default, or those of the run that goes on. */
function inputsFor(
  workflow: Workflow,
  header: Header | undefined,
  given: Record<string, unknown> = {},
): Record<string, unknown> {
  const names = Object.keys(workflow.inputs);
  for (const key of Object.keys(given))
    if (!names.includes(key))
      throw new HoldfastError(
        "invalid",
        `${workflow.name} has no input ${quotedSource(key)}${didYouMean(key, names)}: it takes ${names.join(", ") || "none"}`,
      );
  if (header && header.name !== workflow.name)
    throw new HoldfastError(
      "invalid",
      `this context runs the workflow ${header.name}, not ${workflow.name}: begin ${workflow.name} in a context of its own`,
    );
  const inputs: Record<string, unknown> = {};
  for (const [key, typed] of Object.entries(workflow.inputs)) {
    const kept = header && Object.hasOwn(header.inputs, key) ? { value: header.inputs[key] } : undefined;
    if (kept && Object.hasOwn(given, key) && !isDeepStrictEqual(kept.value, given[key]))
      throw new HoldfastError(
        "invalid",
        `this run was begun with another ${key}: leave inputs out to go on, or begin a new context`,
      );
    const value = kept ? kept.value : Object.hasOwn(given, key) ? given[key] : typed.default;
    if (value === undefined)
      throw new HoldfastError("invalid", `${workflow.name} needs the input ${key}: give ${key}=…`);
    const wrong = typed.check(value);
    if (wrong)
      throw new HoldfastError("invalid", `the input ${key} does not fit: ${wrong}; give another value`, {
        detail: { key, reason: wrong },
      });
    inputs[key] = value;
  }
  return inputs;
}
