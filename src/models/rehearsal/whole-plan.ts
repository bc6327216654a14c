// The plan of a request: which steps run one after the other, which side by side, and when it stops.
import { type PlanStep, paragraphs, type Section, type Stage, together } from "./plan.ts";
import type { Intent } from "./request.ts";
import { requestShutdown, reviewPlans, sendMessage } from "./steps/decide.ts";
import { findFramework } from "./steps/framework.ts";
import { listFiles } from "./steps/list.ts";
import { readFile } from "./steps/read.ts";
import { remind } from "./steps/remind.ts";
import { runCommand } from "./steps/run.ts";
import { searchFor } from "./steps/search.ts";
import { subtask } from "./steps/subtask.ts";
import { setUpTeam } from "./steps/team.ts";
import { todoAlone, todoAround } from "./steps/todo.ts";
import { editFile, writeFile } from "./steps/write.ts";

export function* wholePlan(stage: Stage, intents: Intent[]): PlanStep {
  const sections: Section[] = [];
  const work = intents.filter((intent) => intent.kind !== "report");
  const todoAt = work.findIndex((intent) => intent.kind === "todo" && !intent.items);
  const around = todoAt >= 0 && todoAt < work.length - 1;
  const before = groupsOf(around ? work.slice(0, todoAt) : work);
  const after = around ? groupsOf(work.slice(todoAt + 1)) : [];
  const stopped = yield* runGroups(stage, before, sections);
  if (around && !stopped) {
    const runGroup = (group: Intent[]) => sideBySide(stage, group);
    sections.push(...(yield* todoAround(stage, { groups: after, runGroup, mayGoOn })));
  }
  // One section each so far: what has none was not done.
  const left = work.slice(sections.length).map((intent) => stage.words.describe(intent));
  if (left.length > 0) sections.push({ text: stage.words.stopped(left.join("; ")), ok: false });
  return { text: paragraphs(sections.map((section) => section.text)), ok: sections.every((section) => section.ok) };
}

/** True when it stopped before the end. */
function* runGroups(stage: Stage, groups: Intent[][], sections: Section[]): PlanStep<boolean> {
  for (const [i, group] of groups.entries()) {
    const done = yield* sideBySide(stage, group);
    sections.push(...done);
    if (!mayGoOn(group, done) && i < groups.length - 1) return true;
  }
  return false;
}

const sideBySide = (stage: Stage, group: Intent[]): PlanStep<Section[]> =>
  together(group.map((intent) => stepFor(stage, intent)));

const CHANGES: Intent["kind"][] = ["run", "write", "edit", "team", "review", "shutdown", "message"];

/** After a change that failed nothing that follows can be relied on; a failed look does no harm. */
function mayGoOn(group: Intent[], sections: Section[]): boolean {
  return group.every((intent, i) => sections[i]!.ok || !CHANGES.includes(intent.kind));
}

/** A background command goes out with what follows it; reads go out together. Everything else waits for its turn. */
function groupsOf(intents: Intent[]): Intent[][] {
  const groups: Intent[][] = [];
  for (const intent of intents) {
    const last = groups.at(-1)?.at(-1);
    const background = last?.kind === "run" && last.background;
    const reads = last?.kind === "read" && intent.kind === "read";
    if (last && (background || reads)) groups.at(-1)!.push(intent);
    else groups.push([intent]);
  }
  return groups;
}

export function stepFor(stage: Stage, intent: Intent): PlanStep {
  switch (intent.kind) {
    case "todo":
      return todoAlone(stage, intent);
    case "list":
      return listFiles(stage, intent.files);
    case "read":
      return readFile(stage, intent.path);
    case "run":
      return runCommand(stage, intent.command, { background: intent.background });
    case "search":
      return searchFor(stage, intent.text, intent.path);
    case "framework":
      return findFramework(stage);
    case "subtask":
      return subtask(stage, intent.prompt);
    case "write":
      return writeFile(stage, intent.path, intent.content);
    case "edit":
      return editFile(stage, intent);
    case "remind":
      return remind(stage, intent.when, intent.what);
    case "team":
      return setUpTeam(stage, intent);
    case "review":
      return reviewPlans(stage, intent);
    case "shutdown":
      return requestShutdown(stage, intent);
    case "message":
      return sendMessage(stage, intent.to, intent.content);
    case "report":
      return nothing();
  }
}

// biome-ignore lint/correctness/useYield: a step that needs no call
function* nothing(): PlanStep {
  return { text: "", ok: true };
}
