// Reading of tool results by their form: lines, lists with a remark at the end, numbered lines of a file, how a command ended.
import type { CallResult } from "../transcript.ts";

export const linesOf = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.trim() !== "");

export const firstLine = (text: string): string => linesOf(text)[0]?.trim() ?? "?";

const isRemark = (line: string): boolean => /^(?:\[.*\]|\(.*\)|….*)$/.test(line.trim());

/** What glob or grep found, and how many more there are: the tool says that in a last line in brackets. */
export function foundIn(text: string): { found: string[]; rest: number } {
  const lines = linesOf(text);
  const last = lines.at(-1) ?? "";
  if (!isRemark(last)) return { found: lines, rest: 0 };
  const count = /\d[\d,]*/.exec(last)?.[0] ?? "0";
  return { found: lines.slice(0, -1), rest: Number(count.replaceAll(",", "")) };
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
  const output = text.trimEnd().split(/\r?\n/);
  const own = output.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1;
  const last = own < output.length ? output.at(-1) : undefined;
  const before = printed(output.slice(0, -1));
  if (!isError && last && /\bjob_\w+/.test(last)) return { placeholder: last, output: before };
  if (!isError) return { output: printed(output) };
  if (exitCode === undefined)
    return last ? { output: before, trouble: last } : { output: [], trouble: firstLine(text) };
  // Up to the line that names the code: what stands before it is the command's own, whatever it looks like.
  const code = output.findLastIndex((line, i) => i >= own && line.includes(String(exitCode)));
  return { output: [...printed(output.slice(0, code < 0 ? own : code)), ...output.slice((code < 0 ? own : code) + 1)] };
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

export function byFolder(paths: string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, n]) => `${folder} ${n}`);
}
