// A runner for tests: deterministic, keeps its contract by files, and writes a line for every model request.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentRunner, AgentTask } from "../../src/hub/port.ts";

export interface Play {
  /** Model requests that it takes (default 1). */
  rounds?: number;
  delayMs?: number;
  exports?: Record<string, unknown>;
  text?: string;
  fails?: string;
  tokens?: number;
}

export interface Fake {
  runner: AgentRunner;
  /** Tasks in the order in which they were asked for. */
  tasks: AgentTask[];
  /** `agent/round` of every model request, of all processes. */
  requests(): string[];
  /** The most that ran at one time. */
  most(): number;
}

export function fakeRunner(dir: string, play: (task: AgentTask) => Play): Fake {
  fs.mkdirSync(dir, { recursive: true });
  const log = path.join(dir, "requests.log");
  const tasks: AgentTask[] = [];
  let running = 0;
  let most = 0;
  const run: AgentRunner["run"] = async (task) => {
    tasks.push(task);
    const file = path.join(dir, `${task.agent}.json`);
    const known = fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as { rounds: number }) : undefined;
    const { rounds = 1, delayMs = 0, exports = {}, text = `${task.agent} is done`, fails, tokens = 10 } = play(task);
    most = Math.max(most, ++running);
    try {
      for (let round = known?.rounds ?? 0; round < rounds; round++) {
        fs.appendFileSync(log, `${task.agent}/${round}\n`);
        await sleep(delayMs, undefined, { signal: task.signal });
        // Renamed, so that a kill never leaves half an answer.
        fs.writeFileSync(`${file}.new`, JSON.stringify({ rounds: round + 1 }));
        fs.renameSync(`${file}.new`, file);
      }
      if (fails !== undefined) throw new Error(fails);
      return { text, exports, rounds, requests: rounds, tokens, durationMs: 0, resumed: known !== undefined };
    } finally {
      running--;
    }
  };
  return {
    runner: { run },
    tasks,
    requests: () => (fs.existsSync(log) ? fs.readFileSync(log, "utf8").trim().split("\n").filter(Boolean) : []),
    most: () => most,
  };
}
