// Steps that hand work on: run a command, start a subtask, set a reminder.
import { attempt, call, paragraphs, type Stage, type Step } from "../plan.ts";
import { type IntentOf, understand } from "../request.ts";
import { commandResult, fenced, firstLine } from "./results.ts";

const LINES_SHOWN = 20;

export function* runCommand(stage: Stage, { command, background }: IntentOf<"run">): Step {
  const { say } = stage;
  const result = yield* call(stage, "bash", { command, run_in_background: background || undefined });
  const { output, placeholder, trouble } = commandResult(result);
  const last = output.length > LINES_SHOWN ? String(LINES_SHOWN) : "";
  const shown = output.length > 0 ? [say("output", { last }), fenced(output.slice(-LINES_SHOWN))] : [];
  const section = (heading: string, ok: boolean, rest = shown) => ({ text: [heading, ...rest].join("\n"), ok });
  if (placeholder !== undefined) return section(say("started", { command, placeholder }), true);
  if (trouble !== undefined) return section(say("runFailed", { command, why: trouble }), false);
  const ended = say("ran", { command, code: String(result.exitCode ?? 0) });
  return section(ended, !result.isError, shown.length > 0 ? shown : [say("noOutput")]);
}

/** Where no such tool is on offer, the work is done here. */
export function* subtask(stage: Stage, { prompt }: IntentOf<"subtask">): Step {
  const { say } = stage;
  if (stage.tools.has("task")) {
    const answered = (text: string) => `${say("subtaskDone", { prompt })}\n${text.trim()}`;
    return yield* attempt(stage, "task", { description: prompt.slice(0, 60), prompt }, answered);
  }
  const { intents, unknown } = understand(prompt);
  if (unknown !== undefined) return { text: say("subtaskUnknown", { prompt }), ok: false };
  const done = yield* stage.planFor(intents);
  return { ...done, text: paragraphs([say("noSubtask"), done.text]) };
}

/** The user's own words for the time go to the scheduler, and what it understood is said back. */
export const remind = (stage: Stage, { when, what }: IntentOf<"remind">): Step =>
  attempt(stage, "schedule_cron", { when, prompt: stage.say("reminder", { what }) }, (text) => {
    // Without the time in UTC, behind the one on the wall.
    const said = firstLine(text).replace(/ \(\d{4}-\d\d-\d\dT[\d:]+Z\)/g, "");
    return stage.say("willRemind", { what, said });
  });
