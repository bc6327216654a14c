// Background work: commands run as supervised jobs, survive the harness, and report their end once.
import type { Carrying } from "../../loop/carry.ts";
import { inside, withoutMarks } from "../../loop/marks.ts";
import type { Mechanism, Note, Turn } from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";
import { fittingLines } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";
import { createBashTool, describeEnd, LACKED_NETWORK } from "./bash.ts";
import { type JobsState, jobEvents, jobsSlice, type RunningJob } from "./events.ts";
import { currentAttempt, jobEnd, jobState, killLeftovers, readMeta, START_WITHIN_MS, takenFrom } from "./job-dir.ts";
import { createJobKillTool } from "./job-kill.ts";
import { createJobOutputTool } from "./job-output.ts";
import { takeLeftBehind } from "./left-behind.ts";
import { createListJobsTool } from "./list-jobs.ts";
import { jobOutput } from "./output.ts";
import type { JobEnd } from "./port.ts";
import { bootId } from "./process.ts";
import { createRunner, type RunnerOptions, untilEnded } from "./runner.ts";
import { type OwedJobs, sweepJobs } from "./sweep.ts";

const TAIL_CHARS = 2_000;
/** A model that has not answered by then takes its time. */
const THINKING_MS = 100;

export interface JobsOptions extends RunnerOptions {
  /** Without it the directories of old jobs stay. */
  owed?: OwedJobs;
  /** Hides known secrets in what a job printed: the note of its end is no result of a tool. */
  hide?: ((text: string) => string) | undefined;
}

export function createJobs(opts: JobsOptions): Mechanism {
  const runner = createRunner(opts);
  let isSwept = false;
  return {
    name: "jobs",
    carry: carryJobs,
    outside: { at: ["model", "tool", "intake", "start"], notes: ["jobs"] },
    events: jobEvents,
    fold: jobsSlice,
    tools: [createBashTool(runner), createJobOutputTool(runner), createJobKillTool(runner), createListJobsTool(runner)],
    outstanding(agent) {
      const running = runningJobs(agent);
      const ended = hasEndedJob(agent) ? { dueAt: 0 } : {};
      if (running === 0 && ended.dueAt === undefined) return [];
      const seenBy = "holdfast jobs ls";
      const runsHere = running > 0 ? { runsHere: true as const } : {};
      return [{ what: "background job", count: running, ...ended, keepsProcess: running > 0, seenBy, ...runsHere }];
    },
    async start(turn) {
      if (isSwept) return [];
      isSwept = true;
      return takeLeftBehind(opts.dir).map(({ names, dir }) => {
        const text = `taken away, because commands may not make it here, and one left it behind: ${names.join(", ")} (kept in ${dir})`;
        turn.emit({ type: "status", text });
        return { origin: "jobs", text };
      });
    },
    leaseRenewed: runner.leaseRenewed,
    leaseLost: runner.leaseLost,
    wants: hasEndedJob,
    wake: waitForAny,
    async close() {
      await runner.settled();
      if (opts.owed) await sweepJobs(opts.dir, opts.owed);
    },
    seams: {
      /** A model that thinks leaves time to make a shell ready; one that answers at once would only be disturbed. */
      async model(call, next) {
        const { context, root } = call.turn;
        const thinking = setTimeout(() => runner.prepare(context, root), THINKING_MS);
        try {
          return await next(call);
        } finally {
          clearTimeout(thinking);
        }
      },
      async tool(run, next) {
        if (run.grants.paths) runner.spare(run.grants.paths);
        return next(run);
      },
      async intake(turn) {
        const notes: Note[] = [];
        for (const job of unreported(turn)) {
          const attempt = currentAttempt(job.dir);
          const end = endOf(attempt, job);
          if (!end) continue;
          if (end.status === "unknown") await killLeftovers(attempt);
          const taken = takenFrom(opts.dir, attempt.slice(opts.dir.length + 1));
          notes.push(notification(job, end, { ...hidden(jobOutput(attempt), opts.hide), taken }));
        }
        return notes;
      },
    },
  };
}

type OfAgent = Pick<Turn, "agent" | "slice">;

const unreported = (turn: OfAgent): RunningJob[] => Object.values(turn.slice<JobsState>("jobs")[turn.agent] ?? {});

/** Of the window. */
const SHARE = 0.02;
const COMMAND_CHARS = 200;

/** Those whose end it was not told of. */
function carryJobs(turn: OfAgent, { room }: Pick<Carrying, "room">): string {
  const lines = unreported(turn).map(
    ({ jobId, callId, command }) => `- ${jobId}, begun by ${callId}: ${visible(cutText(command, COMMAND_CHARS))}`,
  );
  if (lines.length === 0) return "";
  const rest = (count: number) => `- and ${count} more: list_jobs`;
  return [
    "Your commands in the background; you are told when one ends:",
    ...fittingLines(lines, room(SHARE), rest),
  ].join("\n");
}

/** Whether a background job of that agent has ended and waits to be reported. */
function hasEndedJob(turn: OfAgent): boolean {
  return unreported(turn).some((job) => endOf(currentAttempt(job.dir), job) !== undefined);
}

/** How many background jobs of that agent still run. */
function runningJobs(turn: OfAgent): number {
  return unreported(turn).filter((job) => !endOf(currentAttempt(job.dir), job)).length;
}

/** Contract: resolves when a background job of that agent has ended and waits to be reported, or on abort. */
async function waitForAny(turn: OfAgent, signal: AbortSignal): Promise<void> {
  const jobs = unreported(turn);
  await untilEnded({
    dirs: jobs.map((job) => currentAttempt(job.dir)),
    ended: () => jobs.some((job) => endOf(currentAttempt(job.dir), job)),
    signal,
    watched: true,
  });
}

function endOf(attempt: string, job: RunningJob): JobEnd | undefined {
  const meta = readMeta(attempt);
  const end = jobEnd(attempt, meta?.startedAt ?? job.startedAt);
  if (end) return end;
  if (jobState(attempt).phase === "running") return undefined;
  const lost = !meta || job.boot !== bootId() || Date.now() - meta.startedAt > START_WITHIN_MS;
  return lost ? { status: "unknown", durationMs: 0 } : undefined;
}

const hidden = (output: ReturnType<typeof jobOutput>, hide: JobsOptions["hide"]) =>
  hide ? { ...output, text: hide(output.text) } : output;

interface Said extends ReturnType<typeof jobOutput> {
  taken?: ReturnType<typeof takenFrom>;
}

function notification(job: RunningJob, end: JobEnd, { text: output, missing, taken }: Said): Note {
  const tail = inside("output", withoutMarks(output.slice(-TAIL_CHARS).replace(/^[\udc00-\udfff]/, "")));
  const facts = [
    `<id>${job.jobId}</id>`,
    `<status>${end.status}</status>`,
    ...(end.exitCode === undefined ? [] : [`<exit_code>${end.exitCode}</exit_code>`]),
    `<duration>${(end.durationMs / 1000).toFixed(1)} s</duration>`,
    `<command>${withoutMarks(job.command.slice(0, 200))}</command>`,
    ...(taken ? [`<taken_away kept_in="${taken.dir}">${taken.names.join(", ")}</taken_away>`] : []),
    ...(end.lackedNetwork ? [`<no_network>${LACKED_NETWORK}</no_network>`] : []),
    ...(end.because || end.lostLease ? [`<ended_because>${describeEnd(end)}</ended_because>`] : []),
    ...(missing === undefined ? [] : [`<output_missing>${missing}</output_missing>`]),
    `<output path="job:${job.jobId}" chars="${output.length}">${tail.length < output.length ? "…" : ""}${tail}</output>`,
  ];
  return {
    origin: "jobs",
    text: `<task_notification>\n${facts.join("\n")}\n</task_notification>\nThe whole output: job_output id ${job.jobId}`,
    events: [{ type: "job.ended", data: { jobId: job.jobId, ...end, tail } }],
  };
}
