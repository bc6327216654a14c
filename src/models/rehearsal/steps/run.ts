// Owns the step that runs a command, waited for or in the background, and reports how it ended.
import { call, type Stage, type Step } from "../plan.ts";
import { commandResult, fenced, firstLine } from "./output.ts";

const SHOWN = 20;

export function* runCommand(stage: Stage, command: string, opts: { background: boolean }): Step {
  const { words } = stage;
  const input = opts.background ? { command, run_in_background: true } : { command };
  const outcome = yield* call(stage, "bash", input, words.sayRun(command, opts.background));
  const { code, placeholder, output } = commandResult(outcome.text);
  if (placeholder) return { text: words.started(command, placeholder), ok: !outcome.isError };
  // An error without an exit code: refused, interrupted, or never started.
  if (outcome.isError && code === "0") return { text: words.runFailed(command, firstLine(outcome.text)), ok: false };
  const shown = output.slice(-SHOWN);
  const title = shown.length < output.length ? words.lastLines(SHOWN) : words.output;
  const printed = output.length === 0 ? words.noOutput : `${title}\n${fenced(shown)}`;
  return { text: `${words.ran(command, code!)}\n${printed}`, ok: code === "0" };
}
