// How a plan moves: a step is a generator that asks for calls and is given their outcomes. Replayed from the record each
// round, it stops at the first call that has not been made: the same transcript always gives the same next reply.
import { isDeepStrictEqual } from "node:util";
import type { Intent } from "./request.ts";
import type { Roster } from "./roster.ts";
import type { Recorded, ResultOutcome } from "./situation.ts";
import type { Words } from "./words.ts";

export interface PlannedCall {
  name: string;
  input: Record<string, unknown>;
}

interface Ask {
  say: string;
  calls: PlannedCall[];
}

export interface Section {
  text: string;
  ok: boolean;
}

/** Contract: pure; what it does next depends on the outcomes it was given and on nothing else. */
export type PlanStep<T = Section> = Generator<Ask, T, ResultOutcome[]>;

export interface Stage {
  words: Words;
  /** Names of the tools on offer. */
  tools: ReadonlySet<string>;
  roster: Roster;
  /** The step that does an intent. */
  stepFor: (intent: Intent) => PlanStep;
}

export const paragraphs = (parts: string[]): string => parts.filter((part) => part !== "").join("\n\n");

export type PlannedMove = { ask: Ask } | { section: Section };

export function advance(plan: PlanStep, recorded: readonly Recorded[]): PlannedMove {
  const pool = [...recorded];
  let at = plan.next();
  while (!at.done) {
    const asked = at.value;
    const found = asked.calls.map((call) => take(pool, call));
    const missing = asked.calls.filter((_, i) => found[i] === undefined);
    if (missing.length > 0) return { ask: { say: asked.say, calls: missing } };
    at = plan.next(found as ResultOutcome[]);
  }
  return { section: at.value };
}

function take(pool: Recorded[], call: PlannedCall): ResultOutcome | undefined {
  const at = pool.findIndex((r) => r.name === call.name && isDeepStrictEqual(r.input, call.input));
  return at < 0 ? undefined : pool.splice(at, 1)[0]!.outcome;
}

/** Makes one call. A tool that is not on offer is an outcome like any other failure. */
export function* call(stage: Stage, name: string, input: Record<string, unknown>, say = ""): PlanStep<ResultOutcome> {
  if (!stage.tools.has(name)) return { text: stage.words.noTool(name), isError: true };
  const [outcome] = yield { say, calls: [{ name, input }] };
  return outcome!;
}

/** Runs steps side by side: what each asks for next goes out in one reply. */
export function* together<T>(steps: PlanStep<T>[]): PlanStep<T[]> {
  const running = steps.map((step) => ({ step, at: step.next() }));
  for (;;) {
    const asks = running.map(({ at }) => (at.done ? undefined : at.value));
    const calls = asks.flatMap((ask) => ask?.calls ?? []);
    if (calls.length === 0) break;
    const outcomes = yield {
      say: asks
        .map((ask) => ask?.say ?? "")
        .filter((say) => say !== "")
        .join("\n"),
      calls,
    };
    let from = 0;
    for (const [i, ask] of asks.entries()) {
      if (!ask) continue;
      const own = outcomes.slice(from, from + ask.calls.length);
      from += ask.calls.length;
      running[i]!.at = running[i]!.step.next(own);
    }
  }
  return running.map(({ at }) => at.value as T);
}
