// Starting a child of a test and reading its lines.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Child {
  process: ChildProcess;
  lines: string[];
  /** Resolves when it has printed that many lines. */
  printed(count: number): Promise<void>;
  /** Resolves when it is gone and all its output is read. */
  ended: Promise<void>;
}

export function startChild(script: string, args: string[], env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  const reader = createInterface(child.stdout);
  reader.on("line", (line) => lines.push(line));
  const ended = Promise.all([once(child, "exit"), once(reader, "close")]).then(() => {});
  return {
    process: child,
    lines,
    ended,
    async printed(count) {
      while (lines.length < count)
        await Promise.race([
          once(reader, "line"),
          ended.then(() => Promise.reject(new Error(`${script} ended early`))),
        ]);
    },
  };
}
