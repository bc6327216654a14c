// Reading of tool results by their form: lines, lists with a remark at the end, numbered lines of a file, how a command ended.
import type { Say } from "../phrases.ts";
import type { CallResult } from "../transcript.ts";

export const linesOf = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.trim() !== "");

export const firstLine = (text: string): string => linesOf(text)[0]?.trim() ?? "?";

const isRemark = (line: string): boolean => /^(?:\[.*\]|\(.*\)|….*)$/.test(line.trim());

interface Found {
  found: string[];
  /** How many there are: the tool says in a last line in brackets how many it left out. */
  n: number;
  /** The line for those that are not shown. */
  more: string[];
}

/** What glob or grep found. */
export function foundIn(say: Say, text: string, shown = Number.POSITIVE_INFINITY): Found {
  const lines = linesOf(text);
  const remark = isRemark(lines.at(-1) ?? "") ? lines.pop() : undefined;
  const n = lines.length + Number(/\d[\d,]*/.exec(remark ?? "")?.[0].replaceAll(",", "") ?? 0);
  const hidden = n - Math.min(shown, lines.length);
  return { found: lines, n, more: hidden > 0 ? [say("more", { n: hidden })] : [] };
}

const NUMBER = /^\s*\d*\|/;

/** read_file numbers the first and every fifth line: `1|text`, then `|text`. `remarks`: what the tool adds. */
export function fileLines(text: string): { from: number; lines: string[]; remarks: string[] } {
  const all = text.split(/\r?\n/);
  const numbered = all.filter((line) => NUMBER.test(line));
  const remarks = all.filter((line) => line.trim() !== "" && !NUMBER.test(line)).map((line) => line.trim());
  const lines = numbered.map((line) => line.replace(NUMBER, ""));
  return { from: Number.parseInt(numbered[0] ?? "", 10) || 1, lines, remarks };
}

interface CommandResult {
  output: string[];
  /** The line that says that it runs in the background. */
  placeholder?: string;
  /** Why there is no exit code: refused, killed, interrupted. */
  trouble?: string;
}

/** What a command printed, apart from the lines in brackets that the tool put after it. */
export function commandResult({ text, isError, exitCode }: CallResult): CommandResult {
  const lines = text.trimEnd().split(/\r?\n/);
  const own = lines.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1;
  const last = own < lines.length ? lines.at(-1) : undefined;
  const before = printed(lines.slice(0, -1));
  if (!isError)
    return last && /\bjob_\w+/.test(last) ? { placeholder: last, output: before } : { output: printed(lines) };
  if (exitCode === undefined)
    return last ? { output: before, trouble: last } : { output: [], trouble: firstLine(text) };
  // Without the line that names the code: what stands before it is the command's own, whatever it looks like.
  const code = lines.findLastIndex((line, i) => i >= own && line.includes(String(exitCode)));
  return { output: printed(lines.filter((_, i) => i !== code)) };
}

const printed = (lines: string[]): string[] => {
  const text = lines.join("\n").trim();
  return text === "" || text === "(no output)" ? [] : lines;
};

/** A code fence that the content cannot close. */
export function fenced(lines: string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`{3,}/g) ?? []).map((run) => run.length)));
  const fence = "`".repeat(longest + 1);
  return [fence, ...lines, fence].join("\n");
}

/** How many are in which folder; no line when they are all in one, or not all known. */
export function byFolder(say: Say, paths: string[], n: number): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  if (n > paths.length || counts.size < 2) return [];
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, count]) => `${folder} ${count}`);
  return [say("byFolder", { counts: lines.join(", ") })];
}
