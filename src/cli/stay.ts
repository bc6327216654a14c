// `--stay`: goes on while something is outstanding (teammates, jobs, schedules, …); each thing that happens to the lead is a turn.
import { setTimeout as sleep } from "node:timers/promises";
import type { Output } from "../front/text/text-output.ts";
import type { Harness, Run } from "../harness.ts";
import { contextState } from "../loop/agent.ts";
import { driveRun, type RunResult } from "../run-result.ts";

/** What nobody tells the lead of (a plan approved from elsewhere) is looked at this often. */
const LOOK_MS = 1_000;

/** Contract: ends when nothing is left that could happen by itself or by an answer, or with a signal (`interrupted`). */
export async function stay({
  harness,
  run,
  output,
}: {
  harness: Harness;
  run: Run;
  output: Output;
}): Promise<{ results: RunResult[]; interrupted: boolean }> {
  const { agent, ledger } = run.taken;
  const results: RunResult[] = [];
  const over = new AbortController();
  let interrupted = false;
  const leave = () => {
    interrupted = true;
    over.abort();
  };
  process.once("SIGINT", leave).once("SIGTERM", leave).once("SIGHUP", leave);
  const hosting = await harness.hosting({
    context: run.context,
    onProblem: (text) => output.event({ type: "progress", progress: { type: "status", text } }),
  });
  const hosted = hosting.run(over.signal);
  /** Nothing that is waited for: only work that goes on could bring more. */
  const isQuiet = () =>
    Object.keys(contextState(ledger).agents).every((one) =>
      harness.host.outstanding(ledger, one).every(({ keepsProcess }) => !keepsProcess),
    );
  try {
    await driveRun(run, {
      signal: over.signal,
      onResult(result) {
        results.push(result);
        output.result(result);
      },
      async wait() {
        const quiet = isQuiet();
        const first = await firstOf(
          over.signal,
          (signal) => agent.untilWoken(signal),
          quiet
            ? (signal) => hosting.settled(signal)
            : (signal) => sleep(LOOK_MS, undefined, { signal }).catch(() => undefined),
        );
        return !(quiet && first === 1 && isQuiet() && !(await harness.host.wants(ledger, agent.turn.agent)));
      },
    });
  } finally {
    process.removeListener("SIGINT", leave).removeListener("SIGTERM", leave).removeListener("SIGHUP", leave);
    over.abort();
    await hosted;
  }
  return { results, interrupted };
}

/** Contract: which of them came first; the others are told to end. */
async function firstOf(outer: AbortSignal, ...waits: ((signal: AbortSignal) => Promise<unknown>)[]): Promise<number> {
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  try {
    return await Promise.race(waits.map((wait, i) => wait(signal).then(() => i)));
  } finally {
    over.abort();
  }
}
