// Owns the reading of tool results as text: lines, numbered lines of a file, exit codes.

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

const EXIT = /\[exit code (-?\d+)[^\]]*\]/i;
const STARTED = /\[Background job [^\]]*\]/i;

export interface CommandResult {
  /** Undefined while it runs, or when it never ran. */
  code?: string;
  /** The whole line that says that it runs in the background. */
  placeholder?: string;
  output: string[];
}

export function commandResult(text: string): CommandResult {
  const placeholder = STARTED.exec(text)?.[0];
  const code = EXIT.exec(text)?.[1];
  const output = text.replace(EXIT, "").replace(STARTED, "").replace(/\s+$/, "").split(/\r?\n/);
  const result: CommandResult = { output: output.every((line) => line.trim() === "") ? [] : output };
  if (placeholder) result.placeholder = placeholder;
  else result.code = code ?? "0";
  return result;
}

/** A code fence that the content cannot close. */
export function fenced(lines: string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`{3,}/g) ?? []).map((run) => run.length)));
  const fence = "`".repeat(longest + 1);
  return [fence, ...lines, fence].join("\n");
}
