// One phase from its beginning (or where a dead process left it) to its end: skipped, done, failed, or left for later.

import type { AgentAnswer } from "../hub/port.ts";
import { type ErrorCode, isHoldfastError, messageOf } from "../ledger/error.ts";
import { counted } from "../text/counted.ts";
import { callAgent } from "./agents.ts";
import { holdsOn, rootOf } from "./condition.ts";
import type { Phase } from "./definition.ts";
import { runItems } from "./fan-out.ts";
import { sameBasis, type WorkflowPlan } from "./plan.ts";
import { bytesOf, type PhaseRecord, saveRecord, settle, shortened } from "./records.ts";
import { causeOf, MOST_RENAMED, type Session, tellPhase } from "./session.ts";

export type Ending = PhaseRecord["state"] | "stopped";

/** Contract: throws only when the run as a whole cannot go on (the store, the lease). */
export async function runPhase(session: Session, phase: Phase, plan: WorkflowPlan): Promise<Ending> {
  if (await skipped(session, phase, plan)) return "skipped";
  const work = (): Promise<Ending> => runTries(session, phase, plan);
  // The items of a fan-out take the slots.
  return phase.foreach ? work() : session.slots.run(work);
}

async function runTries(session: Session, phase: Phase, plan: WorkflowPlan): Promise<Ending> {
  const { context, signal } = session;
  if (signal.aborted) return "stopped";
  let record = beginRecord(session, phase, plan);
  for (let renamed = 0; ; ) {
    await keep(session, phase.id, record);
    tellPhase(session, phase.id, record);
    const memory = session.memory.watch();
    const began = session.now();
    const measured = (): Pick<PhaseRecord, "activeMs" | "peakRss"> => ({
      activeMs: record.activeMs + Math.max(0, session.now() - began),
      peakRss: Math.max(record.peakRss, memory.end()),
    });
    try {
      const answer = phase.foreach
        ? await runItems(session, phase, record)
        : await callAgent(session, phase, { agent: record.agent });
      const { activeMs, peakRss } = measured();
      return await finish(
        session,
        phase,
        { ...record, activeMs: Math.max(activeMs, answer.durationMs), peakRss },
        answer,
      );
    } catch (error) {
      const times = measured();
      if (signal.aborted) return "stopped";
      if (isFatal(error)) throw error;
      // The name has another question behind it: the phase was edited meanwhile, or somebody used the name. No try was made.
      if (isHoldfastError(causeOf(error), "conflict") && !phase.foreach && renamed++ < MOST_RENAMED) {
        record = { ...record, ...times, ...named(session, phase) };
        continue;
      }
      const message = messageOf(error);
      // Items have had their tries.
      const more = !phase.foreach && record.tries <= phase.retry;
      if (!phase.foreach)
        await context.logError({
          agent: record.agent,
          message: `${phase.id}: ${message}`,
          cause: causeOf(error) ?? error,
        });
      if (more) {
        session.tell({ kind: "retry", at: session.now(), phase: phase.id, agent: record.agent, error: message });
        record = { ...record, ...times, ...named(session, phase), tries: record.tries + 1 };
        continue;
      }
      return fail(session, phase, { ...record, ...times }, message);
    }
  }
}

export async function fail(session: Session, phase: Phase, begun: PhaseRecord, error: string): Promise<Ending> {
  const record: PhaseRecord = { ...begun, state: "failed", error, endedAt: session.now() };
  await keep(session, phase.id, record);
  tellPhase(session, phase.id, record);
  return "failed";
}

/** What nobody can go on from: the store or the lease. */
export function isFatal(error: unknown): boolean {
  return FATAL.some((code) => isHoldfastError(error, code));
}

const FATAL: ErrorCode[] = ["fenced", "held", "damaged", "disk", "busy", "unreachable", "upgrade"];

async function keep(session: Session, id: string, record: PhaseRecord): Promise<void> {
  await saveRecord(session.context, id, record);
  session.records.set(id, record);
}

/** A name that no agent had. */
function named(session: Session, phase: Phase): { run: number; agent: string } {
  const run = (session.runs.get(phase.id) ?? 0) + 1;
  session.runs.set(phase.id, run);
  return { run, agent: `${phase.id}.${run}` };
}

/** Where it stands: gone on with, tried again, or begun anew. */
export function beginRecord(session: Session, phase: Phase, plan: WorkflowPlan): PhaseRecord {
  const before = session.records.get(phase.id);
  const needs = plan.basisOf(phase.id);
  const round = plan.roundOf(phase.id);
  if (before && sameBasis(before, needs) && before.round >= round && !before.again) {
    const { error: _, endedAt: __, ...rest } = before;
    if (before.state === "running") return structuredClone(rest);
    // A fan-out that failed keeps the items that did not.
    if (before.state === "failed" && before.items) return structuredClone({ ...rest, state: "running", tries: 1 });
  }
  const { max } = phase.until ?? {};
  const limit =
    max === undefined
      ? undefined
      : before?.again || before?.state === "failed"
        ? (before.limit ?? max)
        : round + max - 1;
  const kept = before?.state === "failed" ? before.activeMs : 0;
  return {
    ...{ state: "running", ...named(session, phase), round, tries: 1, needs, startedAt: session.now() },
    ...{ activeMs: kept, rounds: 0, requests: 0, tokens: 0, peakRss: 0, exports: {} },
    ...(limit !== undefined && { limit }),
  };
}

async function skipped(session: Session, phase: Phase, plan: WorkflowPlan): Promise<boolean> {
  if (!phase.when) return false;
  const before = session.records.get(phase.id);
  const root = rootOf(phase.when.condition.path);
  // Begun is begun: what it reads may have changed since.
  if (before?.state === "running" && sameBasis(before, plan.basisOf(phase.id))) return false;
  if (holdsOn(phase.when.condition, { [root]: await session.context.read(root) })) return false;
  const record: PhaseRecord = { ...beginRecord(session, phase, plan), state: "skipped", endedAt: session.now() };
  delete record.items;
  await keep(session, phase.id, record);
  tellPhase(session, phase.id, record);
  return true;
}

/** Contract: after it the phase, what it gives, its result and its checkpoint are durable. */
export async function finish(session: Session, phase: Phase, begun: PhaseRecord, answer: AgentAnswer): Promise<Ending> {
  const { rounds, tokens, resumed, exports } = answer;
  const requests = Math.max(rounds, answer.requests); // those of a dead process count too
  const record: PhaseRecord = {
    ...{ ...begun, state: "done", endedAt: session.now(), rounds, requests, tokens },
    exports: Object.fromEntries(Object.entries(exports).map(([key, value]) => [key, bytesOf(value)])),
    ...(resumed && { resumed }),
    ...(answer.text && { text: shortened(answer.text) }),
  };
  if (record.items) record.items.done = record.items.total;
  await judgeLoop(session, phase, record, exports);
  await session.settling.run(() => settle(session.context, phase, record, { exports, text: answer.text }));
  session.records.set(phase.id, record);
  if (record.state === "failed")
    await session.context.logError({ agent: record.agent, message: `${phase.id}: ${record.error}` });
  tellPhase(session, phase.id, record);
  return record.state;
}

/** Whether the loop goes round again: decided once, kept with the result that decided it. */
async function judgeLoop(
  session: Session,
  phase: Phase,
  record: PhaseRecord,
  exports: Record<string, unknown>,
): Promise<void> {
  const { until } = phase;
  if (!until) return;
  const root = rootOf(until.when.path);
  const value = Object.hasOwn(exports, root) ? exports[root] : await session.context.read(root);
  if (holdsOn(until.when, { [root]: value })) return;
  if (record.round < (record.limit ?? until.max)) record.again = true;
  else if (until.exhausted === "fail") {
    record.state = "failed";
    record.exhausted = true;
    record.error = `${until.text} does not hold after ${counted(until.max, "round")}: look at what it gave, or retry for as many more`;
  }
}
