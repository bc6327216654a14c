// A teammate's work on a task that it has claimed: done and completed, or released with the reason said to the lead.
import { call, type PlanStep, type Section, type Stage } from "../plan.ts";
import { type Intent, understand } from "../request.ts";
import type { ClaimedTask } from "../team-notes.ts";
import { commandResult, firstLine } from "./output.ts";
import { overviewIn, writeOverview } from "./overview.ts";

export function* workOn(stage: Stage, task: ClaimedTask): PlanStep {
  const { words } = stage;
  const place = yield* call(stage, "bash", { command: "pwd" }, words.sayClaimed(task.id));
  const { output, trouble } = commandResult(place);
  const where = place.isError ? words.noDir(trouble ?? firstLine(place.text)) : words.worksIn(output[0] ?? "?");
  const work = yield* theWork(stage, task);
  if (!work.ok) return yield* giveUp(stage, task, work.text);
  const note = firstLine(work.text);
  const { text, isError } = yield* call(stage, "complete_task", { task_id: task.id, note });
  const end = isError ? words.taskNotDone(task.id, firstLine(text)) : words.taskDone(task.id, work.text);
  return { text: [end, where].join("\n"), ok: !isError };
}

/** A lead's, or of no use to whoever asked a teammate for it. */
const NOT_OWN: Intent["kind"][] = ["team", "review", "shutdown", "remind"];

/** What a teammate can do of that text: all of it, or undefined. */
export function ownWork(text: string): Intent[] | undefined {
  const { intents, unknown } = understand(text);
  return unknown === undefined && intents.every((intent) => !NOT_OWN.includes(intent.kind)) ? intents : undefined;
}

function* theWork(stage: Stage, { subject }: ClaimedTask): PlanStep {
  const overview = overviewIn(subject);
  if (overview) return yield* writeOverview(stage, overview);
  const intents = ownWork(subject);
  if (!intents) return { text: stage.words.notMine(subject), ok: false };
  const sections: Section[] = [];
  for (const intent of intents) {
    const section = yield* stage.stepFor(intent);
    sections.push(section);
    if (!section.ok) return { text: stage.words.failedWork(section.text), ok: false };
  }
  return { text: sections.map((section) => section.text).join("\n\n"), ok: true };
}

function* giveUp(stage: Stage, { id }: ClaimedTask, why: string): PlanStep {
  const { words } = stage;
  const release = { task_id: id, status: "pending", note: firstLine(why) };
  const given = yield* call(stage, "update_task", release);
  const text = `${given.isError ? words.notReleased(id, firstLine(given.text)) : words.released(id)} ${why}`;
  const sent = yield* call(stage, "send_message", { to: "lead", content: text });
  return { text: sent.isError ? `${text}\n${words.notSent("lead", firstLine(sent.text))}` : text, ok: false };
}
