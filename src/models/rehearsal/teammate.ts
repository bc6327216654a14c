// The part of a teammate: it plans before it acts, works on what it has claimed, answers its lead, and leaves when asked to.
import type { ModelRequest } from "../model.ts";
import { notesText } from "./notes.ts";
import {
  advance,
  call,
  type PlannedCall,
  type PlanStep,
  paragraphs,
  type Section,
  type Stage,
  together,
} from "./plan.ts";
import { understand } from "./request.ts";
import { ownWork, workOn } from "./steps/claimed.ts";
import { pathsOf } from "./steps/list.ts";
import { firstLine, linesOf } from "./steps/output.ts";
import { type Matter, mattersOf } from "./teammate-inbox.ts";
import { stepFor, wholePlan } from "./whole-plan.ts";
import { wordsFor } from "./words-for.ts";

/** Only teammates are offered it. */
export const isTeammate = (tools: ReadonlySet<string>): boolean => tools.has("submit_plan");

const TASKS_SHOWN = 5;

export function teammateReply(
  request: Pick<ModelRequest, "items" | "system">,
  tools: ReadonlySet<string>,
): { text: string; calls: PlannedCall[] } {
  const { matters, recorded, answers, prompt, notes } = mattersOf(request);
  const words = wordsFor(understand(prompt).lang);
  const stage: Stage = {
    words,
    tools,
    roster: { mates: [], plans: [] },
    stepFor: (intent) => stepFor(stage, intent),
  };
  const move = advance(inTurn(stage, matters), recorded);
  if ("ask" in move) return { text: move.ask.say, calls: move.ask.calls };
  const other = notesText(words, notes, { meanwhile: matters.length > 0 && answers.length === 0, mates: [] });
  const { text } = move.section;
  const said = answers.some((given) => given.includes(text)) ? "" : text;
  return { text: paragraphs([said, other]) || words.nothingToDo, calls: [] };
}

function* inTurn(stage: Stage, matters: Matter[]): PlanStep {
  const sections: Section[] = [];
  for (const matter of matters) sections.push(yield* stepOf(stage, matter));
  return { text: paragraphs(sections.map((section) => section.text)), ok: sections.every((section) => section.ok) };
}

function stepOf(stage: Stage, matter: Matter): PlanStep {
  switch (matter.kind) {
    case "plan":
      return submitPlan(stage, matter.feedback);
    case "go":
      return goAhead(stage, matter);
    case "claimed":
      return workOn(stage, matter.task);
    case "message":
      return answerMessage(stage, matter);
    case "shutdown":
      return leave(stage, matter.id);
  }
}

/** Looks and plans; changes nothing. */
function* submitPlan(stage: Stage, feedback: string | undefined): PlanStep {
  const { words } = stage;
  const [board, files] = yield* together([
    call(stage, "list_tasks", { claimable: true }, words.sayLook),
    call(stage, "glob", { pattern: "**/*" }),
  ]);
  const tasks = board!.isError ? [] : linesOf(board!.text).filter((line) => /^task_\w+ /.test(line));
  const found = files!.isError ? undefined : pathsOf(files!.text);
  const plan = words.plan({
    tasks: tasks.slice(0, TASKS_SHOWN),
    files: found ? words.filesSeen(found.paths.length + found.rest) : "",
    ...(feedback !== undefined && { feedback }),
  });
  const { text, isError } = yield* call(stage, "submit_plan", { plan });
  const why = firstLine(text);
  return { text: isError ? words.planNotSubmitted(why) : words.planSubmitted(why), ok: !isError };
}

/** The prompt itself is done when it is a request that is understood; otherwise work comes from the board. */
function* goAhead(stage: Stage, { approved, prompt }: Extract<Matter, { kind: "go" }>): PlanStep {
  const { words } = stage;
  const intents = ownWork(prompt);
  const lead = approved ? words.approved : "";
  if (!intents) return { text: paragraphs([lead, words.ready]), ok: true };
  const done = yield* wholePlan(stage, intents);
  return { text: paragraphs([lead, done.text]), ok: done.ok };
}

/** Once, to whoever wrote it. */
function* answerMessage(stage: Stage, { from, text, closed }: Extract<Matter, { kind: "message" }>): PlanStep {
  const { words } = stage;
  const intents = closed ? undefined : ownWork(text);
  const quoted = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  const done = intents && (yield* wholePlan(stage, intents));
  const content = done?.text || (closed ? words.mateWaits(quoted) : words.mateAnswer(quoted));
  const sent = yield* call(stage, "send_message", { to: from, content });
  const said = firstLine(sent.text);
  return { text: sent.isError ? words.notSent(from, said) : words.sent(from, said), ok: !sent.isError };
}

function* leave(stage: Stage, id: string): PlanStep {
  const { words } = stage;
  const { text, isError } = yield* call(stage, "answer_shutdown", { request_id: id, approve: true });
  return { text: isError ? words.notAnswered(firstLine(text)) : words.goodbye, ok: !isError };
}
