// The step that sets a reminder: the user's own words for the time go to the scheduler, and what it understood is said back.
import { call, type PlanStep, type Stage } from "../plan.ts";
import { firstLine } from "./output.ts";

export function* remind(stage: Stage, when: string, what: string): PlanStep {
  const { words } = stage;
  const prompt = words.reminderPrompt(what);
  const { text, isError } = yield* call(stage, "schedule_cron", { when, prompt }, words.sayRemind);
  if (isError) return { text: words.remindFailed(what, firstLine(text)), ok: false };
  const once = firstLine(text).replace(/ \(\d{4}-\d\d-\d\dT[\d:]+Z\)/g, ""); // the time in UTC, behind the one on the wall
  return { text: [words.willRemind(what, once), words.remindHost].join("\n"), ok: true };
}
