// Steps of a lead: set up a team, each part of which needs the one before; answer plans, ask for shutdown, pass a message on.
import { call, joined, type PlannedCall, type Section, type Stage, type Step, together } from "../plan.ts";
import type { IntentOf, Mate, Team } from "../request.ts";
import type { PlanRequest, Result } from "../transcript.ts";
import { firstLine, linesOf } from "./results.ts";
import { generalTasks } from "./task.ts";

const ROLE = "worker";

export function* setUpTeam(stage: Stage, team: Team): Step {
  const { say, tools } = stage;
  const needed = [
    ...(team.worktrees ? ["create_worktree"] : []),
    ...(team.mates.length > 0 ? ["spawn_teammate"] : []),
    ...(team.plans && team.mates.length === 0 ? ["request_plan"] : []),
  ];
  const missing = needed.filter((name) => !tools.has(name));
  // Said before anything is half done.
  if (missing.length > 0) {
    const stays = tools.has("spawn_teammate") || tools.has("create_worktree");
    return { text: stays ? say("noTool", { name: missing.join(", ") }) : say("needsStay"), ok: false };
  }
  const parts: Section[] = [];
  if (team.tasks > 0) {
    const { ids, ...made } = yield* createTasks(stage, team);
    parts.push(made);
    if (made.ok && team.worktrees) parts.push(yield* createWorktrees(stage, ids));
    // Work that was to be kept apart is not begun in one place.
    if (!joined(parts).ok) return joined(parts);
  }
  if (team.mates.length > 0) parts.push(yield* spawnMates(stage, team));
  const spawned = team.mates.map((mate) => mate.name);
  const asked = team.plans?.filter((name) => !spawned.includes(name));
  if (asked && (asked.length > 0 || spawned.length === 0)) parts.push(yield* requestPlans(stage, asked));
  return joined(parts);
}

function* createTasks(stage: Stage, team: Team): Step<Section & { ids: string[] }> {
  const { say } = stage;
  // One task each: a label keeps it for that teammate, or the first one approved would do them all in a moment.
  const each = team.mates.length === team.tasks ? team.mates : [];
  const tasks =
    team.subjects?.map((subject) => ({ subject })) ??
    generalTasks(say, team.tasks).map((task, i) => (each[i] ? { ...task, labels: [each[i].name] } : task));
  const { text, isError } = yield* call(stage, "create_task", { tasks });
  const lines = linesOf(text).filter((line) => /^task_\w+ /.test(line));
  if (isError || lines.length === 0) return { text: say("tasksFailed", { why: firstLine(text) }), ok: false, ids: [] };
  const general = team.subjects ? [] : [say("genericTasks")];
  const ids = lines.map((line) => line.split(" ")[0]!);
  return { text: [say("tasksMade"), ...lines.map((line) => `- ${line}`), ...general].join("\n"), ok: true, ids };
}

/** One call for each, all in one reply; one line for each. */
function* callForEach(stage: Stage, calls: PlannedCall[], lineOf: (result: Result, i: number) => string): Step {
  const results = yield* together(calls.map(({ name, input }) => call(stage, name, input)));
  return { text: results.map(lineOf).join("\n"), ok: results.every((result) => !result.isError) };
}

function* createWorktrees(stage: Stage, ids: string[]): Step {
  const { say } = stage;
  const inputs = ids.map((id) => ({ name: id.replace("_", "-"), task_id: id }));
  const calls = inputs.map((input) => ({ name: "create_worktree", input }));
  const made = yield* callForEach(stage, calls, ({ text, isError }, i) => {
    const said = firstLine(text);
    return `- ${isError ? say("worktreeFailed", { name: inputs[i]!.name, why: said }) : said}`;
  });
  return { text: `${say("worktreesMade")}\n${made.text}`, ok: made.ok };
}

function* spawnMates(stage: Stage, { mates, plans: planning }: Team): Step {
  const { say } = stage;
  const calls = mates.map(({ name, role = ROLE }: Mate) => {
    const plans = planning?.length === 0 || planning?.includes(name) === true;
    const input = { name, role, prompt: say("matePrompt", { plans }) };
    return { name: "spawn_teammate", input: plans ? { ...input, require_plan: true } : input };
  });
  let awaited = false;
  const made = yield* callForEach(stage, calls, ({ text, isError }, i) => {
    awaited ||= !isError && "require_plan" in calls[i]!.input;
    return `- ${isError ? say("mateFailed", { name: mates[i]!.name, why: firstLine(text) }) : firstLine(text)}`;
  });
  return { text: [say("matesMade"), made.text, ...(awaited ? [say("plansAwaited")] : [])].join("\n"), ok: made.ok };
}

function* requestPlans(stage: Stage, names: string[]): Step {
  return yield* askEach(stage, names, (name) => ({ name: "request_plan", input: { name } }), [
    "planWanted",
    "planNotWanted",
  ]);
}

export function* requestShutdown(stage: Stage, { names, reason }: IntentOf<"shutdown">): Step {
  const asking = (name: string) => ({
    name: "request_shutdown",
    input: reason === undefined ? { name } : { name, reason },
  });
  return yield* askEach(stage, names, asking, ["shutdownAsked", "shutdownFailed"]);
}

type Answers = ["planWanted", "planNotWanted"] | ["shutdownAsked", "shutdownFailed"];

/** No names: everyone. */
function* askEach(stage: Stage, names: string[], asking: (name: string) => PlannedCall, keys: Answers): Step {
  const { say, roster } = stage;
  const who = names.length > 0 ? names : roster.mates;
  if (who.length === 0) return { text: say("noMates"), ok: false };
  return yield* callForEach(stage, who.map(asking), ({ text, isError }, i) => {
    const said = firstLine(text);
    return isError ? say(keys[1], { name: who[i]!, why: said }) : say(keys[0], { name: who[i]!, said });
  });
}

export function* reviewPlans(stage: Stage, { names, approve, feedback }: IntentOf<"review">): Step {
  const { say } = stage;
  const chosen = choose(stage, names);
  if ("text" in chosen) return chosen;
  // A rejection without a reason helps nobody: the next plan would be the same.
  if (!approve && feedback === undefined)
    return { text: say("feedbackWanted", { name: chosen.plans[0]!.name }), ok: false };
  const calls = chosen.plans.map(({ id }) => ({
    name: "review_plan",
    input: { request_id: id, approve, ...(feedback !== undefined && { feedback }) },
  }));
  return yield* callForEach(stage, calls, ({ text, isError }, i) => {
    const { name, id } = chosen.plans[i]!;
    return isError ? say("notReviewed", { name, id, why: firstLine(text) }) : say("reviewed", { name, id, approve });
  });
}

/** By name or by request id. Contract: nothing is decided when one of those named has no plan, or when it is unclear whose is meant. */
function choose({ say, roster: { plans } }: Stage, names: string[]): { plans: PlanRequest[] } | Section {
  if (names.length === 0 || names[0] === "*") {
    if (plans.length === 0) return { text: say("noPlan", { name: "" }), ok: false };
    if (names.length > 0 || plans.length === 1) return { plans };
    return { text: say("whichPlan", { names: plans.map((plan) => plan.name).join(", ") }), ok: false };
  }
  const found = names.map((name) => plans.find((plan) => plan.name === name || plan.id.toLowerCase() === name));
  const missing = names.filter((_, i) => found[i] === undefined);
  if (missing.length > 0) return { text: missing.map((name) => say("noPlan", { name })).join("\n"), ok: false };
  return { plans: found as PlanRequest[] };
}

export function* sendMessage(stage: Stage, to: string, content: string): Step {
  const { say } = stage;
  const name = to === "*" ? say("everyone") : to;
  const { text, isError } = yield* call(stage, "send_message", { to, content });
  const said = firstLine(text);
  return { text: isError ? say("notSent", { name, why: said }) : say("sent", { name, said }), ok: !isError };
}
