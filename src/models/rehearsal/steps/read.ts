// The step that reads a file and sums it up: number of lines, title, first headings.
import { call, type PlanStep, type Stage } from "../plan.ts";
import { fenced, fileLines, firstLine } from "./output.ts";

export function* readFile(stage: Stage, path: string): PlanStep {
  const { words } = stage;
  const outcome = yield* call(stage, "read_file", { path }, words.sayRead(path));
  if (outcome.isError) return { text: words.readFailed(path, firstLine(outcome.text)), ok: false };
  const { lines, remarks } = fileLines(outcome.text);
  // Nothing but a remark of the tool or of the harness: it knows better than a guess.
  if (lines.length === 0 && remarks.length > 0) return { text: `${path}: ${remarks.join(" ")}`, ok: true };
  if (lines.every((line) => line.trim() === "")) {
    return { text: words.emptyFile(path), ok: true };
  }
  const about = /\.(?:md|markdown|mdx|rst)$/i.test(path) ? headings(lines) : [];
  const text = [words.readSummary(path, lines.length)];
  if (about.length > 0) {
    text.push(words.title(about[0]!));
    if (about.length > 1) text.push(words.headings(about.slice(1, 6).join(" · ")));
  } else {
    text.push(words.begins, fenced(lines.filter((line) => line.trim() !== "").slice(0, 5)));
  }
  return { text: [...text, ...remarks].join("\n"), ok: true };
}

function headings(lines: string[]): string[] {
  const found: string[] = [];
  let code = false;
  for (const line of lines) {
    if (/^\s*(?:```|~~~)/.test(line)) code = !code;
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line);
    if (heading && !code) found.push(heading[1]!);
  }
  return found;
}
