// Phases that wait for a person: what is asked, when an answer counts, and giving one from anywhere.
import type { Context } from "../contexts/context.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { didYouMean, quotedSource } from "../templates/source.ts";
import type { Phase } from "./definition.ts";
import { oldInput } from "./old-records.ts";
import { beginRecord, type Ending, fail, finish, isFatal } from "./phase.ts";
import { placesWithoutLines, problemError } from "./places.ts";
import { sameBasis, type WorkflowPlan } from "./plan.ts";
import { fillTemplate } from "./prompt.ts";
import { AUTHOR, type PhaseRecord, readHeader, readInput, readRecords, saveInput, saveRecord } from "./records.ts";
import { readSchema } from "./schema.ts";
import { type Session, tellPhase } from "./session.ts";

/** Done when a person has given all its keys to this very run: no shared value stands for an answer. */
export async function runWait(session: Session, phase: Phase, plan: WorkflowPlan): Promise<Ending> {
  const before = session.records.get(phase.id);
  const going =
    before?.state === "waiting" && sameBasis(before, plan.basisOf(phase.id)) && before.round >= plan.roundOf(phase.id);
  const record = going ? before : { ...beginRecord(session, phase, plan), state: "waiting" as const, agent: "user" };
  try {
    if (!going) {
      record.question = await fillTemplate(session.context, phase);
      await saveRecord(session.context, phase.id, record);
      session.records.set(phase.id, record);
    }
    return await waitFor(session, phase, record);
  } catch (error) {
    if (isFatal(error)) throw error;
    await session.context.logError({ agent: AUTHOR, message: `${phase.id}: ${messageOf(error)}`, cause: error });
    return fail(session, phase, record, messageOf(error));
  }
}

async function waitFor(session: Session, phase: Phase, record: PhaseRecord): Promise<Ending> {
  const { context, ask, signal } = session;
  const keys = Object.fromEntries(Object.entries(phase.exports).map(([key, { schema }]) => [key, schema]));
  const stopped = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  for (let wrong: string | undefined; ; ) {
    const given = await answered(context, phase, record);
    if ("values" in given) {
      const exports = given.values;
      const answer = { text: "", exports, rounds: 0, requests: 0, tokens: 0, durationMs: 0, resumed: false };
      return finish(session, phase, record, answer);
    }
    const error = wrong ?? given.wrong;
    tellPhase(session, phase.id, error === undefined ? record : { ...record, error });
    if (!ask || signal.aborted) return "waiting";
    const question = { phase: phase.id, question: record.question ?? "", keys, signal };
    const values = await Promise.race([ask({ ...question, ...(error !== undefined && { error }) }), stopped]);
    if (!values || signal.aborted) return "waiting";
    const wanted = Object.entries(phase.exports);
    wrong = wanted.map(([key, { check }]) => misfit(key, check(values[key]))).find((one) => one !== undefined);
    if (wrong) continue;
    const answer = Object.fromEntries(wanted.map(([key]) => [key, values[key]]));
    await saveInput(context, [{ phase: phase.id, run: record.run, values: answer }], "user");
  }
}

const misfit = (key: string, why: string | undefined): string | undefined => why && `${key} does not fit: ${why}`;

async function answered(
  context: Context,
  phase: Phase,
  record: PhaseRecord,
): Promise<{ values: Record<string, unknown> } | { wrong?: string }> {
  const keys = Object.keys(phase.exports);
  const given = {
    ...(await oldInput(context, record, keys)),
    ...(await readInput(context, phase.id, record.run, keys)),
  };
  const values: Record<string, unknown> = {};
  for (const [key, { check }] of Object.entries(phase.exports)) {
    if (!Object.hasOwn(given, key)) return {};
    const wrong = misfit(key, check(given[key]));
    if (wrong) return { wrong };
    values[key] = given[key];
  }
  return { values };
}

/** Gives waiting phases what they wait for, from any process; the run goes on when it is run again. Contract: all of it or nothing. */
export async function giveInput(
  context: Context,
  values: Record<string, unknown>,
  opts: { author?: string } = {},
): Promise<{ phases: string[] }> {
  const header = await readHeader(context);
  if (!header) throw new HoldfastError("not_found", `${context.id} runs no workflow: begin one with workflow run`);
  const records = await readRecords(
    context,
    header.phases.map((one) => one.id),
  );
  const waiting = header.phases.filter((one) => records.get(one.id)?.state === "waiting");
  const keys = waiting.flatMap((one) => Object.keys(one.exports));
  const given = new Map<string, Record<string, unknown>>();
  for (const [key, value] of Object.entries(values)) {
    const phase = waiting.find((one) => key in one.exports);
    if (!phase) {
      const what = keys.length > 0 ? `it waits for ${keys.join(", ")}` : "nothing in it waits for input";
      throw new HoldfastError(
        "invalid",
        `${context.id} does not wait for ${quotedSource(key)}${didYouMean(key, keys)}: ${what}`,
      );
    }
    const places = placesWithoutLines(phase.id);
    const typed = readSchema(phase.exports[key], [key], places);
    if (!typed) throw problemError(places.problems);
    const wrong = typed.check(value);
    if (wrong)
      throw new HoldfastError("invalid", `${key} does not fit: ${wrong}; nothing was changed: give a value that fits`, {
        detail: { key, reason: wrong },
      });
    given.set(phase.id, { ...given.get(phase.id), [key]: value });
  }
  const answers = [...given].map(([id, one]) => ({ phase: id, run: records.get(id)!.run, values: one }));
  await saveInput(context, answers, opts.author ?? "user");
  return { phases: [...given.keys()] };
}
