// The step that sets up a team: tasks, a worktree for each, teammates, and whether they plan first. Each part needs the one before.
import { call, type PlanStep, type Section, type Stage, together } from "../plan.ts";
import type { Mate, Team } from "../request.ts";
import { firstLine, linesOf } from "./output.ts";
import { genericTasks } from "./overview.ts";

const ROLE = "worker";

export function* setUpTeam(stage: Stage, team: Team): PlanStep {
  const { words, tools } = stage;
  const parts: Section[] = [];
  const done = (): Section => ({
    text: parts.map((part) => part.text).join("\n\n"),
    ok: parts.every((part) => part.ok),
  });
  const needed = [
    ...(team.worktrees ? ["create_worktree"] : []),
    ...(team.mates.length > 0 ? ["spawn_teammate"] : []),
    ...(team.plans && team.mates.length === 0 ? ["request_plan"] : []),
  ];
  const missing = needed.filter((name) => !tools.has(name));
  // Said before anything is half done.
  if (missing.length > 0) {
    const stays = tools.has("spawn_teammate") || tools.has("create_worktree");
    return { text: stays ? words.noTool(missing.join(", ")) : words.needsStay, ok: false };
  }
  let ids: string[] = [];
  if (team.tasks > 0) {
    const made = yield* createTasks(stage, team);
    ids = made.ids;
    parts.push(made);
    if (!made.ok) return done();
  }
  if (team.worktrees && ids.length > 0) {
    parts.push(yield* createWorktrees(stage, ids));
    // Work that was to be kept apart is not begun in one place.
    if (!done().ok) return done();
  }
  const planning = (mate: Mate) => team.plans?.length === 0 || team.plans?.includes(mate.name) === true;
  if (team.mates.length > 0) parts.push(yield* spawnMates(stage, team.mates, planning));
  const spawned = team.mates.map((mate) => mate.name);
  const asked = team.plans?.filter((name) => !spawned.includes(name));
  if (asked && (asked.length > 0 || spawned.length === 0)) parts.push(yield* requestPlans(stage, asked));
  return done();
}

function* createTasks(stage: Stage, team: Team): PlanStep<Section & { ids: string[] }> {
  const { words } = stage;
  // One task each: a label keeps it for that teammate, or the first one approved would do them all in a moment.
  const each = team.mates.length === team.tasks ? team.mates : [];
  const generic = () =>
    genericTasks(words, team.tasks).map((task, i) => (each[i] ? { ...task, labels: [each[i].name] } : task));
  const tasks = team.subjects?.map((subject) => ({ subject })) ?? generic();
  const outcome = yield* call(stage, "create_task", { tasks }, words.sayTasks(tasks.length));
  const lines = linesOf(outcome.text).filter((line) => /^task_\w+ /.test(line));
  if (outcome.isError || lines.length === 0)
    return { text: words.tasksFailed(firstLine(outcome.text)), ok: false, ids: [] };
  const honest = team.subjects ? [] : [words.genericTasks];
  const text = [words.tasksMade, ...lines.map((line) => `- ${line}`), ...honest].join("\n");
  return { text, ok: true, ids: lines.map((line) => line.split(" ")[0]!) };
}

function* createWorktrees(stage: Stage, ids: string[]): PlanStep {
  const { words } = stage;
  const named = ids.map((id) => ({ name: id.replace("_", "-"), task_id: id }));
  const outcomes = yield* together(
    named.map((input, i) => call(stage, "create_worktree", input, i === 0 ? words.sayWorktrees : "")),
  );
  const lines = outcomes.map(({ text, isError }, i) =>
    isError ? words.worktreeFailed(named[i]!.name, firstLine(text)) : firstLine(text),
  );
  return {
    text: [words.worktreesMade, ...lines.map((line) => `- ${line}`)].join("\n"),
    ok: outcomes.every((outcome) => !outcome.isError),
  };
}

function* spawnMates(stage: Stage, mates: Mate[], planning: (mate: Mate) => boolean): PlanStep {
  const { words } = stage;
  const say = words.sayMates(mates.map((mate) => mate.name).join(", "));
  const outcomes = yield* together(
    mates.map((mate, i) => {
      const plans = planning(mate);
      const input = { name: mate.name, role: mate.role ?? ROLE, prompt: words.matePrompt(plans) };
      return call(stage, "spawn_teammate", plans ? { ...input, require_plan: true } : input, i === 0 ? say : "");
    }),
  );
  const lines = outcomes.map(({ text, isError }, i) =>
    isError ? words.mateFailed(mates[i]!.name, firstLine(text)) : firstLine(text),
  );
  const awaited = mates.some((mate, i) => planning(mate) && !outcomes[i]!.isError) ? [words.plansAwaited] : [];
  return {
    text: [words.matesMade, ...lines.map((line) => `- ${line}`), ...awaited].join("\n"),
    ok: outcomes.every((outcome) => !outcome.isError),
  };
}

function* requestPlans(stage: Stage, names: string[]): PlanStep {
  const { words, roster } = stage;
  const who = names.length > 0 ? names : roster.mates;
  if (who.length === 0) return { text: words.noMates, ok: false };
  const say = words.sayPlans(who.join(", "));
  const outcomes = yield* together(who.map((name, i) => call(stage, "request_plan", { name }, i === 0 ? say : "")));
  const lines = outcomes.map(({ text, isError }, i) =>
    isError ? words.planNotAsked(who[i]!, firstLine(text)) : words.planAsked(who[i]!, firstLine(text)),
  );
  return { text: lines.join("\n"), ok: outcomes.every((outcome) => !outcome.isError) };
}
