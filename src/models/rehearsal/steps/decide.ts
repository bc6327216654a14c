// The steps by which a lead carries out what the user decided about the team: answer plans, ask for shutdown, pass a message on.
import { call, type PlanStep, type Section, type Stage, together } from "../plan.ts";
import type { Intent } from "../request.ts";
import type { PlanRequest } from "../words-team.ts";
import { firstLine } from "./output.ts";

export function* reviewPlans(stage: Stage, intent: Extract<Intent, { kind: "review" }>): PlanStep {
  const { words } = stage;
  const { approve, feedback } = intent;
  const chosen = choose(stage, intent.names);
  if ("text" in chosen) return chosen;
  const [first] = chosen.plans;
  // A rejection without a reason helps nobody: the next plan would be the same.
  if (!approve && feedback === undefined) return { text: words.feedbackWanted(first!.name), ok: false };
  const outcomes = yield* together(
    chosen.plans.map(({ id, name }) => {
      const input = { request_id: id, approve };
      const whole = feedback === undefined ? input : { ...input, feedback };
      return call(stage, "review_plan", whole, words.sayReview(name, approve));
    }),
  );
  const lines = outcomes.map(({ text, isError }, i) =>
    isError ? words.reviewFailed(chosen.plans[i]!, firstLine(text)) : words.reviewed(chosen.plans[i]!, approve),
  );
  return { text: lines.join("\n"), ok: outcomes.every((outcome) => !outcome.isError) };
}

/** By name or by request id. Contract: nothing is decided when one of those named has no plan, or when it is unclear whose is meant. */
function choose({ words, roster }: Stage, names: string[]): { plans: PlanRequest[] } | Section {
  const { plans } = roster;
  if (names.length === 0 || names[0] === "*") {
    if (plans.length === 0) return { text: words.noPlans, ok: false };
    if (names.length > 0 || plans.length === 1) return { plans };
    return { text: words.whichPlan(plans.map((plan) => plan.name).join(", ")), ok: false };
  }
  const found = names.map((name) => plans.find((plan) => plan.name === name || plan.id.toLowerCase() === name));
  const missing = names.filter((_, i) => found[i] === undefined);
  if (missing.length > 0) return { text: missing.map((name) => words.noPlan(name)).join("\n"), ok: false };
  return { plans: found as PlanRequest[] };
}

export function* requestShutdown(stage: Stage, intent: Extract<Intent, { kind: "shutdown" }>): PlanStep {
  const { words, roster } = stage;
  const names = intent.names.length > 0 ? intent.names : roster.mates;
  if (names.length === 0) return { text: words.noMates, ok: false };
  const say = words.sayShutdown(names.join(", "));
  const outcomes = yield* together(
    names.map((name, i) => {
      const input = intent.reason === undefined ? { name } : { name, reason: intent.reason };
      return call(stage, "request_shutdown", input, i === 0 ? say : "");
    }),
  );
  const lines = outcomes.map(({ text, isError }, i) =>
    isError ? words.shutdownFailed(names[i]!, firstLine(text)) : words.shutdownAsked(names[i]!, firstLine(text)),
  );
  return { text: lines.join("\n"), ok: outcomes.every((outcome) => !outcome.isError) };
}

export function* sendMessage(stage: Stage, to: string, content: string): PlanStep {
  const { words } = stage;
  const name = to === "*" ? words.everyone : to;
  const { text, isError } = yield* call(stage, "send_message", { to, content });
  return { text: isError ? words.notSent(name, firstLine(text)) : words.sent(name, firstLine(text)), ok: !isError };
}
