// Steps that hand work on: run a command, start a subtask, set a reminder.
import { attempt, call, paragraphs, type Stage, type Step } from "../plan.ts";
import { type IntentOf, understand } from "../request.ts";
import { commandResult, fenced, firstLine } from "./results.ts";

const LINES_SHOWN = 20;

export function* runCommand(stage: Stage, { command, background }: IntentOf<"run">): Step {
  const { say } = stage;
  const result = yield* call(stage, "bash", background ? { command, run_in_background: true } : { command });
  const { output, placeholder, trouble } = commandResult(result);
  const last = output.length > LINES_SHOWN ? String(LINES_SHOWN) : "";
  const shown = output.length > 0 ? [say("output", { last }), fenced(output.slice(-LINES_SHOWN))] : [];
  if (placeholder !== undefined)
    return { text: [say("started", { command, placeholder }), ...shown].join("\n"), ok: true };
  if (trouble !== undefined)
    return { text: [say("runFailed", { command, why: trouble }), ...shown].join("\n"), ok: false };
  const ended = say("ran", { command, code: String(result.exitCode ?? 0) });
  return { text: [ended, ...(shown.length > 0 ? shown : [say("noOutput")])].join("\n"), ok: !result.isError };
}

/** Where no such tool is on offer, the work is done here. */
export function* subtask(stage: Stage, { prompt }: IntentOf<"subtask">): Step {
  const { say } = stage;
  if (stage.tools.has("task")) {
    const input = { description: prompt.slice(0, 60), prompt };
    return yield* attempt(
      stage,
      { name: "task", input },
      (text) => `${say("subtaskDone", { prompt })}\n${text.trim()}`,
    );
  }
  const { intents, unknown } = understand(prompt);
  if (unknown !== undefined) return { text: say("subtaskUnknown", { prompt }), ok: false };
  const done = yield* stage.planFor(intents);
  return { ...done, text: paragraphs([say("noSubtask"), done.text]) };
}

/** The user's own words for the time go to the scheduler, and what it understood is said back. */
export const remind = (stage: Stage, { when, what }: IntentOf<"remind">): Step => {
  const { say } = stage;
  const input = { when, prompt: say("reminder", { what }) };
  // Without the time in UTC, behind the one on the wall.
  const said = (text: string) => firstLine(text).replace(/ \(\d{4}-\d\d-\d\dT[\d:]+Z\)/g, "");
  const done = (text: string) => say("willRemind", { what, said: said(text) });
  return attempt(stage, { name: "schedule_cron", input }, done, (why) => say("remindFailed", { what, why }));
};
