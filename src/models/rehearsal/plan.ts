// How a plan moves: a step is a generator that asks for calls and is given their results. Replayed from the record each
// round, it stops at the first call that has not been made: the same transcript always gives the same next reply.
import { isDeepStrictEqual } from "node:util";
import type { Say } from "./phrases.ts";
import type { Intent } from "./request.ts";
import { firstLine } from "./steps/results.ts";
import { type CallResult, type MadeCall, NO_RESULT, type Roster } from "./transcript.ts";

export interface PlannedCall {
  name: string;
  input: Record<string, unknown>;
}

interface Ask {
  text: string;
  calls: PlannedCall[];
}

export interface Section {
  text: string;
  ok: boolean;
}

/** Contract: pure; what it does next depends on the results it was given and on nothing else. */
export type Step<T = Section> = Generator<Ask, T, CallResult[]>;

export interface Stage {
  say: Say;
  /** Names of the tools on offer. */
  tools: ReadonlySet<string>;
  roster: Roster;
  /** Lines of what is remembered of the project, as the agent was told. */
  remembered: readonly string[];
  /** Several intents in their order, as a request. */
  planFor: (intents: Intent[]) => Step;
}

export const paragraphs = (parts: string[]): string => parts.filter((part) => part !== "").join("\n\n");

/** One section of several. */
export const joinedSections = (sections: Section[], between = "\n\n"): Section => ({
  text: sections.flatMap(({ text }) => text || []).join(between),
  ok: sections.every(({ ok }) => ok),
});

export function advance(plan: Step, made: readonly MadeCall[]): Ask | Section {
  const pool = [...made];
  let at = plan.next();
  while (!at.done) {
    const results: CallResult[] = [];
    const calls = at.value.calls.filter((call) => {
      const made = pool.findIndex((one) => one.name === call.name && isDeepStrictEqual(one.input, call.input));
      for (const { result } of made < 0 ? [] : pool.splice(made, 1)) results.push(result);
      return made < 0;
    });
    if (calls.length > 0) return { text: at.value.text, calls };
    at = plan.next(results);
  }
  return at.value;
}

/** Makes one call; what is undefined is left out of its input. A tool that is not on offer is a failure like any other. */
export function* call({ say, tools }: Stage, name: string, given: Record<string, unknown>): Step<CallResult> {
  if (!tools.has(name)) return { text: say("noTool", { name }), isError: true };
  const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const [result = NO_RESULT] = yield { text: "", calls: [{ name, input }] };
  return result;
}

/** One call; what it came to in one section. */
export function* attempt(
  stage: Stage,
  name: string,
  input: Record<string, unknown>,
  done: (text: string) => string = firstLine,
): Step {
  const { text, isError } = yield* call(stage, name, input);
  if (isError) return { text: stage.say("failed", { name, why: firstLine(text) }), ok: false };
  return { text: done(text), ok: true };
}

/** What each step comes to. */
type Outcomes<Steps extends readonly Step<unknown>[]> = {
  -readonly [At in keyof Steps]: Steps[At] extends Step<infer T> ? T : never;
};

/** Runs steps side by side: what each asks for next goes out in one reply. `text` is said with the first calls. */
export function* together<const Steps extends readonly Step<unknown>[]>(
  steps: Steps,
  text = "",
): Step<Outcomes<Steps>> {
  const running = steps.map((step) => ({ step, at: step.next() }));
  for (;;) {
    const asking = running.flatMap((one) => (one.at.done ? [] : [{ one, calls: one.at.value.calls }]));
    if (asking.length === 0) return running.map(({ at }) => at.value) as Outcomes<Steps>;
    const results = yield { text, calls: asking.flatMap(({ calls }) => calls) };
    for (const { one, calls } of asking) one.at = one.step.next(results.splice(0, calls.length));
    text = "";
  }
}
