// The step that searches the files for a text.
import { call, type PlanStep, type Stage } from "../plan.ts";
import { fenced, firstLine, linesOf } from "./output.ts";

const SHOWN = 20;

export function* searchFor(stage: Stage, text: string, path: string | undefined): PlanStep {
  const { words } = stage;
  const pattern = text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  const outcome = yield* call(
    stage,
    "grep",
    path === undefined ? { pattern } : { pattern, path },
    words.saySearch(text),
  );
  if (outcome.isError) return { text: words.searchFailed(text, firstLine(outcome.text)), ok: false };
  const lines = linesOf(outcome.text);
  if (lines.length === 0 || /^\W*no (?:match|result|files?)/i.test(lines[0]!))
    return { text: words.noMatches(text), ok: true };
  const shown = lines.slice(0, SHOWN);
  const rest = lines.length - shown.length;
  const more = rest > 0 ? [words.more(rest)] : [];
  return { text: [words.matches(text, lines.length), fenced(shown), ...more].join("\n"), ok: true };
}
