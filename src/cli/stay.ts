// Owns `--stay`: goes on while teammates, jobs and schedules do; each thing that happens to the lead is a turn.
import { setTimeout as sleep } from "node:timers/promises";
import { countsOf, type Harness, type Run, type RunResult, resultOf } from "../harness.ts";
import type { Turn } from "../loop/seams.ts";
import { nextFiring } from "../mechanisms/cron/index.ts";
import { runningJobs } from "../mechanisms/jobs/index.ts";
import { unfinishedSubtasks } from "../mechanisms/subagents/index.ts";
import { activeMates, type TeamState, waitsForReview } from "../mechanisms/team/index.ts";
import type { Output } from "./text-output.ts";

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
  try {
    while (!over.signal.aborted) {
      const before = countsOf(run.taken);
      const startedAt = Date.now();
      const reason = await agent.oneTurn();
      if (reason) {
        const durationMs = Date.now() - startedAt;
        results.push(resultOf({ context: run.context, taken: run.taken, reason, before, durationMs }));
        output.result(results.at(-1)!);
        continue;
      }
      await agent.idle();
      const turn: Turn = agent.turn;
      if (isQuiet(turn)) {
        const woken = await first(
          over.signal,
          (signal) => agent.untilWoken(signal),
          (signal) => hosting.settled(signal),
        );
        if (woken === 1 && isQuiet(turn) && !(await harness.host.wants(ledger, turn.agent))) break;
      } else
        await first(
          over.signal,
          (signal) => agent.untilWoken(signal),
          (signal) => sleep(LOOK_MS, undefined, { signal }).catch(() => undefined),
        );
    }
  } finally {
    process.removeListener("SIGINT", leave).removeListener("SIGTERM", leave).removeListener("SIGHUP", leave);
    over.abort();
    await hosted;
  }
  return { results, interrupted };
}

/** Contract: which of them came first; the others are told to end. */
async function first(outer: AbortSignal, ...waits: ((signal: AbortSignal) => Promise<unknown>)[]): Promise<number> {
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  try {
    return await Promise.race(waits.map((wait, i) => wait(signal).then(() => i)));
  } finally {
    over.abort();
  }
}

/** No job, no schedule, no plan to review: only work that goes on could bring more. */
function isQuiet(turn: Turn): boolean {
  const team = turn.slice<TeamState>("team");
  const names = [turn.agent, ...activeMates(team).map((mate) => mate.name)];
  const bound = names.some((agent) => {
    const of = { agent, slice: turn.slice };
    return runningJobs(of) > 0 || nextFiring(of) !== undefined || unfinishedSubtasks(of) > 0;
  });
  return !bound && !waitsForReview(team);
}
