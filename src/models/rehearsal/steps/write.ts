// The steps that change files: write one, or replace a text in one that was read first.
import { call, type PlanStep, type Stage } from "../plan.ts";
import type { Intent } from "../request.ts";
import { firstLine } from "./output.ts";

export function* writeFile(stage: Stage, path: string, content: string): PlanStep {
  const { words } = stage;
  const outcome = yield* call(stage, "write_file", { path, content }, words.sayWrite(path));
  if (outcome.isError) return { text: words.writeFailed(path, firstLine(outcome.text)), ok: false };
  return { text: words.written(path, [...content].length), ok: true };
}

export function* editFile(stage: Stage, edit: Extract<Intent, { kind: "edit" }>): PlanStep {
  const { words } = stage;
  const { path, oldText, newText } = edit;
  const before = yield* call(stage, "read_file", { path }, words.sayEdit(path));
  if (before.isError) return { text: words.editFailed(path, firstLine(before.text)), ok: false };
  const input = { path, old_text: oldText, new_text: newText };
  const outcome = yield* call(stage, "edit_file", edit.all ? { ...input, replace_all: true } : input);
  if (outcome.isError) return { text: words.editFailed(path, firstLine(outcome.text)), ok: false };
  return { text: words.edited(path, oldText, newText), ok: true };
}
