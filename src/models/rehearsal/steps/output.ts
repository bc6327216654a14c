// The reading of tool results as text: lines, numbered lines of a file, exit codes.
import type { ResultOutcome } from "../situation.ts";

export const linesOf = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.trim() !== "");

export const firstLine = (text: string): string => linesOf(text)[0]?.trim() ?? "?";

export interface FileLines {
  /** Number of the first line. */
  from: number;
  lines: string[];
  /** What the tool adds, such as how to read on. */
  remarks: string[];
}

/** read_file numbers the first and every fifth line: `1|text`, then `|text`. */
export function fileLines(text: string): FileLines {
  const lines: string[] = [];
  const remarks: string[] = [];
  let from = 1;
  for (const line of text.replace(/\r?\n$/, "").split(/\r?\n/)) {
    const numbered = /^\s*(\d*)\|(.*)$/.exec(line);
    if (!numbered) {
      if (line.trim() !== "") remarks.push(line.trim());
      continue;
    }
    if (lines.length === 0 && numbered[1] !== "") from = Number(numbered[1]);
    lines.push(numbered[2]!);
  }
  return { from, lines, remarks };
}

export interface CommandResult {
  /** How it ended when it did not end well: an exit code, or in words. Undefined: well, or still running. */
  code?: string;
  trouble?: string;
  /** The line that says that it runs in the background. */
  placeholder?: string;
  output: string[];
}

const REMARK = /^\[(?:exit code|killed|interrupted|Background job)\b.*\]$/i;

/** What bash printed, and the lines in brackets that the tool put after it. */
export function commandResult({ text, isError }: ResultOutcome): CommandResult {
  const output = text.trimEnd().split(/\r?\n/);
  const remarks: string[] = [];
  // At most one line each: what stands before them is the command's own, whatever it looks like.
  for (const remark of [/^\[directory stays .*\]$/, REMARK]) {
    if (remark.test(output.at(-1) ?? "")) remarks.unshift(output.pop()!);
  }
  const result: CommandResult = {
    output: output.join("").trim() === "" || output.join() === "(no output)" ? [] : output,
  };
  const placeholder = remarks.find((line) => line.startsWith("[Background"));
  if (placeholder) return { ...result, placeholder };
  const code = remarks.map((line) => /^\[exit code (-?\d+)/i.exec(line)?.[1]).find((found) => found !== undefined);
  if (code !== undefined) return { ...result, code };
  if (!isError) return result;
  // Refused, killed, interrupted, or never started: its own words, and they are no output of the command.
  return remarks.length > 0 ? { ...result, trouble: remarks.join(" ") } : { output: [], trouble: firstLine(text) };
}

/** A code fence that the content cannot close. */
export function fenced(lines: string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`{3,}/g) ?? []).map((run) => run.length)));
  const fence = "`".repeat(longest + 1);
  return [fence, ...lines, fence].join("\n");
}
