// The step that hands work to a subtask, or does it here when no such tool is on offer.
import { call, type PlanStep, type Section, type Stage } from "../plan.ts";
import { understand } from "../request.ts";
import { firstLine } from "./output.ts";

export function* subtask(stage: Stage, prompt: string): PlanStep {
  const { words } = stage;
  if (stage.tools.has("task")) {
    const outcome = yield* call(stage, "task", { description: prompt.slice(0, 60), prompt }, words.saySubtask);
    if (outcome.isError) return { text: words.subtaskFailed(prompt, firstLine(outcome.text)), ok: false };
    return { text: `${words.subtaskDone(prompt)}\n${outcome.text.trim()}`, ok: true };
  }
  const { intents, unknown } = understand(prompt);
  if (unknown !== undefined) return { text: words.subtaskUnknown(prompt), ok: false };
  const sections: Section[] = [];
  for (const intent of intents) sections.push(yield* stage.stepFor(intent));
  const text = [words.noSubtask, ...sections.map((section) => section.text)].filter((part) => part !== "");
  return { text: text.join("\n\n"), ok: sections.every((section) => section.ok) };
}
