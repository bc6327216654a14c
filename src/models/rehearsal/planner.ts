// The next reply to a transcript: which steps a request takes, in which order, when it stops, and what the answer says beside the work.
import type { ModelRequest } from "../model.ts";
import { notesText } from "./notes.ts";
import { describePhrase, linesIn, phrasesIn, type Say } from "./phrases.ts";
import {
  advance,
  joinedSections,
  type PlannedCall,
  paragraphs,
  type Section,
  type Stage,
  type Step,
  together,
} from "./plan.ts";
import { type Intent, type IntentOf, type Request, type RequestedWork, understand } from "./request.ts";
import { remind, runCommand, subtask } from "./steps/command.ts";
import { editFile, listFiles, readFile, searchFor, writeFile } from "./steps/files.ts";
import { findFramework } from "./steps/framework.ts";
import { connectServer, loadSkill, recall, remember } from "./steps/knowledge.ts";
import { requestShutdown, reviewPlans, sendMessage, setUpTeam } from "./steps/team.ts";
import { todoAlone, todoList } from "./steps/todo.ts";
import { isTeammate, teammateReply } from "./teammate.ts";
import { type Happened, happenedIn, type Roster, readRoster, readTranscript, rememberedIn } from "./transcript.ts";

/** What to reply to this transcript. Contract: pure; the same request always gives the same reply. */
export function nextReply(
  request: Pick<ModelRequest, "items" | "tools">,
  lookAt?: LookAt,
): {
  text: string;
  calls: PlannedCall[];
} {
  const tools = new Set(request.tools.map((tool) => tool.name));
  if (isTeammate(tools)) return teammateReply(request, (say) => stageFor(say, tools, { mates: [], plans: [] }, []));
  const happened = happenedIn(request.items);
  const now = readTranscript(happened);
  const asked = now.requests.map((text) => understoodWith(text, lookAt && isGoalSet(happened) ? lookAt : undefined));
  const say = phrasesIn(asked.at(-1)?.lang);
  const roster = readRoster(happened, now.made);
  const told = (meanwhile: boolean) => notesText(say, now.notes, { meanwhile, mates: roster.mates });
  const isAsked = now.asked && asked.length > 0;
  if (!isAsked && now.notes.length > 0) return { text: told(false) || say("nothingToDo"), calls: [] };
  const intents = asked.flatMap((one) => one.intents);
  const { unknown } = asked.find((one) => one.unknown !== undefined) ?? {};
  const passedOver = now.passedOver.map((text) => say("passedOver", { text }));
  if (intents.length === 0) return { text: paragraphs([help(say), ...passedOver, told(true)]), calls: [] };

  const next = advance(planFor(stageFor(say, tools, roster, rememberedIn(happened)), intents), now.made);
  if ("calls" in next) return next;
  const refused = unknown === undefined ? [] : [say("notUnderstood", { part: unknown }), help(say)];
  const answer = paragraphs([next.text, ...refused, ...passedOver]);
  const isGiven = now.answers.some((given) => given.includes(answer));
  return { text: paragraphs(isGiven ? [told(true), say("nothingLeft")] : [answer, told(true)]), calls: [] };
}

/** A goal that was set by saying it, and that is no request: what shows whether it is met is looked at. */
function understoodWith(text: string, lookAt: LookAt | undefined): Request {
  const request = understand(text);
  const look = request.intents.length > 0 ? undefined : lookAt?.(text);
  return look ? { lang: request.lang, intents: [look] } : request;
}

const isGoalSet = (happened: readonly Happened[]): boolean =>
  happened.some((one) => one.kind === "heard" && one.notes.some(({ from, kind }) => from === "goal" && kind === "set"));

/** What shows whether a condition is met. */
type LookAt = (condition: string) => Intent | undefined;

const help = (say: Say): string =>
  [say("introduction"), ...linesIn(say, "abilities").map((ability) => `- ${ability}`), say("advice")].join("\n");

function stageFor(say: Say, tools: ReadonlySet<string>, roster: Roster, remembered: readonly string[]): Stage {
  const stage: Stage = { say, tools, roster, remembered, planFor: (intents) => planFor(stage, intents) };
  return stage;
}

function* planFor(stage: Stage, intents: Intent[]): Step {
  const { say } = stage;
  const work = intents.filter((intent): intent is RequestedWork => intent.kind !== "report");
  const todoAt = work.findIndex((intent) => intent.kind === "todo" && !intent.items);
  const list = todoAt >= 0 && todoAt < work.length - 1 ? todoList(stage, work.slice(todoAt + 1)) : undefined;
  const { sections, goesOn } = yield* workOff(stage, list ? work.slice(0, todoAt) : work);
  if (list && goesOn) {
    yield* list.moveOn([]);
    const { sections: done } = yield* workOff(stage, work.slice(todoAt + 1), list.moveOn);
    sections.push(yield* list.close(done), ...done);
  }
  // One section each so far: what has none was not done.
  const left = work.slice(sections.length).map((intent) => describePhrase(say, intent));
  if (left.length > 0) sections.push({ text: say("stopped", { what: left.join("; ") }), ok: false });
  return joinedSections(sections);
}

/** Group by group, up to a change that failed: nothing that follows can be relied on. A failed look does no harm. */
function* workOff(
  stage: Stage,
  work: RequestedWork[],
  moveOn = function* (_: Section[]): Step<void> {},
): Step<{ sections: Section[]; goesOn: boolean }> {
  const sections: Section[] = [];
  const stepFor = (intent: RequestedWork) =>
    (STEPS[intent.kind] as (stage: Stage, intent: Intent) => Step)(stage, intent);
  for (const group of groupsOf(work)) {
    const text = group.map((intent) => `${describePhrase(stage.say, intent)}.`).join("\n");
    const [, ...done] = yield* together([moveOn(sections), ...group.map(stepFor)], text);
    sections.push(...done);
    if (group.some((intent, i) => !done[i]?.ok && CHANGES.includes(intent.kind))) return { sections, goesOn: false };
  }
  return { sections, goesOn: true };
}

const CHANGES: Intent["kind"][] = ["run", "write", "edit", "team", "review", "shutdown", "message"];

/** A background command goes out with what follows it; reads go out together. Everything else waits for its turn. */
function groupsOf(intents: RequestedWork[]): RequestedWork[][] {
  const groups: RequestedWork[][] = [];
  for (const intent of intents) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    const goesAlong = (last?.kind === "run" && last.background) || (last?.kind === "read" && intent.kind === "read");
    if (group && goesAlong) group.push(intent);
    else groups.push([intent]);
  }
  return groups;
}

const STEPS: { [Kind in RequestedWork["kind"]]: (stage: Stage, intent: IntentOf<Kind>) => Step } = {
  todo: todoAlone,
  list: listFiles,
  read: readFile,
  run: runCommand,
  search: searchFor,
  framework: findFramework,
  subtask,
  write: writeFile,
  edit: editFile,
  remind,
  server: connectServer,
  skill: loadSkill,
  remember,
  recall,
  team: setUpTeam,
  review: reviewPlans,
  shutdown: requestShutdown,
  message: sendMessage,
};
