// Steps that hand work on: run a command, start a subtask, set a reminder.
import { call, joined, type Section, type Stage, type Step } from "../plan.ts";
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
export function* subtask(stage: Stage, prompt: string): Step {
  const { say } = stage;
  if (stage.tools.has("task")) {
    const { text, isError } = yield* call(stage, "task", { description: prompt.slice(0, 60), prompt });
    if (isError) return { text: say("subtaskFailed", { prompt, why: firstLine(text) }), ok: false };
    return { text: `${say("subtaskDone", { prompt })}\n${text.trim()}`, ok: true };
  }
  const { intents, unknown } = understand(prompt);
  if (unknown !== undefined) return { text: say("subtaskUnknown", { prompt }), ok: false };
  const sections: Section[] = [{ text: say("noSubtask"), ok: true }];
  for (const intent of intents) sections.push(yield* stage.stepFor(intent));
  return joined(sections);
}

/** The user's own words for the time go to the scheduler, and what it understood is said back. */
export function* remind(stage: Stage, { when, what }: IntentOf<"remind">): Step {
  const { say } = stage;
  const prompt = say("reminder", { what });
  const { text, isError } = yield* call(stage, "schedule_cron", { when, prompt });
  if (isError) return { text: say("remindFailed", { what, why: firstLine(text) }), ok: false };
  const said = firstLine(text).replace(/ \(\d{4}-\d\d-\d\dT[\d:]+Z\)/g, ""); // the time in UTC, behind the one on the wall
  return { text: say("willRemind", { what, said }), ok: true };
}
