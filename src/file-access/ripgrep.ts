// Calling ripgrep: its path, its flags that always hold, its output line by line, its errors.
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

/** Nothing of the user's configuration; .gitignore also outside git; hidden files, but never git's own; no link followed. */
const ALWAYS = [
  "--no-config",
  "--no-require-git",
  "--no-follow",
  "--hidden",
  "--iglob=!.git",
  "--color=never",
  "--no-messages",
];

/** A named pipe as .gitignore would keep it waiting for ever. */
const LIMIT_MS = 60_000;

export interface RipgrepResult {
  /** 0 found, 1 found nothing, 2 an error. */
  code: number;
  error: string;
}

export interface RipgrepOptions {
  cwd: string;
  signal: AbortSignal;
  onLine: (line: string) => void;
  /** Open files for it: the first is its number 3. */
  fds?: number[];
}

let path: Promise<string> | undefined;

export async function ripgrep(args: string[], opts: RipgrepOptions): Promise<RipgrepResult> {
  path ??= import("@vscode/ripgrep").then(
    (m) => m.rgPath,
    () => "rg",
  );
  const child = spawn(await path, [...ALWAYS, ...args], {
    cwd: opts.cwd,
    signal: opts.signal,
    stdio: ["ignore", "pipe", "pipe", ...(opts.fds ?? [])],
  });
  let error = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    if (error.length < 4_000) error += chunk;
  });
  const closed = new Promise<number>((resolve) => {
    child.once("close", (code) => resolve(code ?? 2));
    child.once("error", (e) => {
      error ||= e.message;
      resolve(2);
    });
  });
  const limit = setTimeout(() => {
    error = `the search took longer than ${LIMIT_MS / 1_000} s; narrow it`;
    child.kill("SIGKILL");
  }, LIMIT_MS);
  eachLine(child.stdout!, opts.onLine);
  try {
    return { code: await closed, error: error.trim() };
  } finally {
    clearTimeout(limit);
  }
}

/** Only a line feed ends a line: what else looks like an end is text of a file, and must not be taken for a name. */
function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = "";
  const say = (line: string) => onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(say);
  });
  stream.once("end", () => rest !== "" && say(rest));
}
