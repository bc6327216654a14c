// The step that runs a command, waited for or in the background, and reports how it ended.
import { call, type PlanStep, type Stage } from "../plan.ts";
import { commandResult, fenced } from "./output.ts";

const SHOWN = 20;

export function* runCommand(stage: Stage, command: string, opts: { background: boolean }): PlanStep {
  const { words } = stage;
  const input = opts.background ? { command, run_in_background: true } : { command };
  const outcome = yield* call(stage, "bash", input, words.sayRun(command, opts.background));
  const { code, trouble, placeholder, output } = commandResult(outcome);
  const shown = output.slice(-SHOWN);
  const title = shown.length < output.length ? words.lastLines(SHOWN) : words.output;
  const printed = output.length > 0 ? [title, fenced(shown)] : [];
  if (placeholder) return { text: [words.started(command, placeholder), ...printed].join("\n"), ok: !outcome.isError };
  if (trouble !== undefined) return { text: [words.runFailed(command, trouble), ...printed].join("\n"), ok: false };
  const ended = words.ran(command, code ?? "0");
  return {
    text: [ended, ...(printed.length > 0 ? printed : [words.noOutput])].join("\n"),
    ok: !outcome.isError && (code ?? "0") === "0",
  };
}
