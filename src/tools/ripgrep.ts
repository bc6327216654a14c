// Owns calling ripgrep: its path, its flags that always hold, its output line by line, its errors.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Nothing of the user's configuration; .gitignore also outside git; hidden files, but never git's own. */
const ALWAYS = ["--no-config", "--no-require-git", "--hidden", "--glob=!.git", "--color=never", "--no-messages"];

export interface RipgrepResult {
  /** 0 found, 1 found nothing, 2 an error. */
  code: number;
  error: string;
}

let path: Promise<string> | undefined;

export async function ripgrep(
  args: string[],
  opts: { cwd: string; signal: AbortSignal; onLine: (line: string) => void },
): Promise<RipgrepResult> {
  path ??= import("@vscode/ripgrep").then(
    (m) => m.rgPath,
    () => "rg",
  );
  const child = spawn(await path, [...ALWAYS, ...args], {
    cwd: opts.cwd,
    signal: opts.signal,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let error = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    if (error.length < 4_000) error += chunk;
  });
  const closed = new Promise<number>((resolve) => {
    child.once("close", (code) => resolve(code ?? 2));
    child.once("error", (e) => {
      error ||= e.message;
      resolve(2);
    });
  });
  createInterface({ input: child.stdout, crlfDelay: 0 }).on("line", opts.onLine);
  return { code: await closed, error: error.trim() };
}
