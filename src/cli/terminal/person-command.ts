// `!command`: a person runs something in their own shell; what came out is shown, and goes with their next words.
import { spawn } from "node:child_process";
import { printable } from "../../front/presentation/printable.ts";
import type { RanCommand } from "../../mechanisms/person-commands/index.ts";

const MOST_CHARACTERS = 30_000;

/** Contract: ends with the signal; what it prints is told as it comes. Of a long output the end is kept. */
export function runPersonCommand(
  command: string,
  { cwd, signal, tell }: { cwd: string; signal: AbortSignal; tell: (text: string) => void },
): Promise<RanCommand> {
  const shell = process.env.SHELL || "/bin/sh";
  const child = spawn(shell, ["-c", command], { cwd, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const stop = () => {
    try {
      if (child.pid) process.kill(-child.pid, "SIGTERM");
    } catch {
      // it has ended
    }
  };
  signal.addEventListener("abort", stop, { once: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (data: string) => {
      const text = printable(data);
      output = (output + text).slice(-MOST_CHARACTERS);
      tell(text);
    });
  return new Promise((resolve) => {
    const end = (code: number | undefined) => {
      signal.removeEventListener("abort", stop);
      resolve({ command, output: output.trimEnd(), ...(code !== undefined && { code }) });
    };
    child.on("error", () => end(undefined));
    child.on("close", (code) => end(code ?? undefined));
  });
}
