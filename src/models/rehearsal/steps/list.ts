// The step that lists files with glob and reports them.
import { call, type PlanStep, type Stage } from "../plan.ts";
import type { Files } from "../request.ts";
import { firstLine, linesOf } from "./output.ts";

const SHOWN = 50;

export function* listFiles(stage: Stage, files: Files): PlanStep {
  const { words } = stage;
  const input = files.path === undefined ? { pattern: files.pattern } : { pattern: files.pattern, path: files.path };
  const outcome = yield* call(stage, "glob", input, words.sayList(files));
  if (outcome.isError) return { text: words.listFailed(files, firstLine(outcome.text)), ok: false };
  const { paths, rest } = pathsOf(outcome.text);
  if (paths.length === 0) return { text: words.noFiles(files), ok: true };
  const total = paths.length + rest;
  const shown = paths.slice(0, SHOWN).map((path) => `- ${path}`);
  if (total > shown.length) shown.push(words.more(total - shown.length));
  const folders = byFolder(paths);
  const summary = rest === 0 && folders.length > 1 ? [words.byFolder(folders.join(", "))] : [];
  return { text: [words.files(files, total), ...shown, ...summary].join("\n"), ok: true };
}

/** The paths of a glob result, and how many more it says there are. */
export function pathsOf(text: string): { paths: string[]; rest: number } {
  const paths: string[] = [];
  let rest = 0;
  for (const line of linesOf(text)) {
    const more =
      /^\W*(?:and\s+)?(\d[\d,]*)\s+(?:more|other|further)\b/i.exec(line) ??
      /\b(\d[\d,]*)\s+more\b.*[\])]?$/i.exec(line);
    if (more) rest = Number(more[1]!.replaceAll(",", ""));
    else if (!/^(?:[[(<…]|\.\.\.|no (?:files?|match|paths?|results?)|nothing |none\b)/i.test(line))
      paths.push(line.trim());
  }
  return { paths, rest };
}

export function byFolder(paths: string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, n]) => `${folder} ${n}`);
}
