// Steps of a lead: set up a team, each part of which needs the one before; answer plans, ask for shutdown, pass a message on.
import { attempt, joinedSections, type Section, type Stage, type Step, together } from "../plan.ts";
import type { IntentOf, Team } from "../request.ts";
import type { PlanRequest } from "../transcript.ts";
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
    if (!joinedSections(parts).ok) return joinedSections(parts);
  }
  if (team.mates.length > 0) parts.push(yield* spawnMates(stage, team));
  const spawned = team.mates.map((mate) => mate.name);
  const asked = team.plans?.filter((name) => !spawned.includes(name));
  if (asked && (asked.length > 0 || spawned.length === 0)) parts.push(yield* requestPlans(stage, asked));
  return joinedSections(parts);
}

function* createTasks(stage: Stage, team: Team): Step<Section & { ids: string[] }> {
  const { say } = stage;
  // One task each: a label keeps it for that teammate, or the first one approved would do them all in a moment.
  const each = team.mates.length === team.tasks ? team.mates : [];
  const tasks =
    team.subjects?.map((subject) => ({ subject })) ??
    generalTasks(say, team.tasks).map((task, i) => (each[i] ? { ...task, labels: [each[i].name] } : task));
  const made = yield* attempt(stage, "create_task", { tasks }, (text) => text);
  if (!made.ok) return { ...made, ids: [] };
  const lines = linesOf(made.text).filter((line) => /^task_\w+ /.test(line));
  const general = team.subjects ? [] : [say("genericTasks")];
  const text = [say("tasksMade"), ...lines.map((line) => `- ${line}`), ...general].join("\n");
  return { text, ok: true, ids: lines.map((line) => line.replace(/ .*$/, "")) };
}

/** All in one reply, a line for each. */
function* allOf(steps: Step[]): Step {
  return joinedSections(yield* together(steps), "\n");
}

/** Likewise, under a heading. */
function* listOf(heading: string, steps: Step[]): Step {
  const { text, ok } = yield* allOf(steps);
  return { text: `${heading}\n${text.replace(/^/gm, "- ")}`, ok };
}

const createWorktrees = (stage: Stage, ids: string[]): Step =>
  listOf(
    stage.say("worktreesMade"),
    ids.map((id) => attempt(stage, "create_worktree", { name: id.replace("_", "-"), task_id: id })),
  );

function* spawnMates(stage: Stage, { mates, plans: planning }: Team): Step {
  const { say } = stage;
  const isPlanning = (name: string) => planning?.length === 0 || planning?.includes(name) === true;
  const spawned = mates.map(({ name, role = ROLE }) => {
    const plans = isPlanning(name);
    const prompt = say("matePrompt", { plans });
    return attempt(stage, "spawn_teammate", { name, role, prompt, require_plan: plans || undefined });
  });
  const { text, ok } = yield* listOf(say("matesMade"), spawned);
  return { text: ok && mates.some(({ name }) => isPlanning(name)) ? `${text}\n${say("plansAwaited")}` : text, ok };
}

/** No names: everyone. */
function* forEach(stage: Stage, names: string[], step: (name: string) => Step): Step {
  const who = names.length > 0 ? names : stage.roster.mates;
  return who.length === 0 ? { text: stage.say("noMates"), ok: false } : yield* allOf(who.map(step));
}

const requestPlans = (stage: Stage, names: string[]): Step =>
  forEach(stage, names, (name) => attempt(stage, "request_plan", { name }));

export const requestShutdown = (stage: Stage, { names, reason }: IntentOf<"shutdown">): Step =>
  forEach(stage, names, (name) =>
    attempt(stage, "request_shutdown", { name, reason }, (text) =>
      stage.say("shutdownAsked", { name, said: firstLine(text) }),
    ),
  );

export function* reviewPlans(stage: Stage, { names, approve, feedback }: IntentOf<"review">): Step {
  const { say } = stage;
  const chosen = choose(stage, names);
  if ("text" in chosen) return chosen;
  // A rejection without a reason helps nobody: the next plan would be the same.
  if (!approve && feedback === undefined)
    return { text: say("feedbackWanted", { name: chosen.plans.map(({ name }) => name).join(", ") }), ok: false };
  const answer = ({ id, name }: PlanRequest) =>
    attempt(stage, "review_plan", { request_id: id, approve, feedback }, () => say("reviewed", { name, id, approve }));
  return yield* allOf(chosen.plans.map(answer));
}

/** By name or by request id. Contract: nothing is decided when one of those named has no plan, or when it is unclear whose is meant. */
function choose({ say, roster: { plans } }: Stage, names: string[]): { plans: PlanRequest[] } | Section {
  if (names.length === 0 || names[0] === "*") {
    if (plans.length === 0) return { text: say("noPlan", { name: "" }), ok: false };
    if (names.length > 0 || plans.length === 1) return { plans };
    return { text: say("whichPlan", { names: plans.map((plan) => plan.name).join(", ") }), ok: false };
  }
  const planOf = (name: string) => plans.filter((plan) => plan.name === name || plan.id.toLowerCase() === name);
  const missing = names.filter((name) => planOf(name).length === 0);
  if (missing.length > 0) return { text: missing.map((name) => say("noPlan", { name })).join("\n"), ok: false };
  return { plans: names.flatMap(planOf) };
}

export const sendMessage = (stage: Stage, { to, content }: IntentOf<"message">): Step =>
  attempt(stage, "send_message", { to, content });
