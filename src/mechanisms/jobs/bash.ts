// The tool bash: a command as a supervised job.

import { realpathSync } from "node:fs";
import * as z from "zod";
import { isInside } from "../../file-access/paths.ts";
import { refused } from "../../file-access/refused.ts";
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import { errorCode } from "../../ledger/guards.ts";
import type { CommandEnd } from "../../loop/command-end.ts";
import { interruptedBy, leaseIsOver } from "../../loop/interrupt.ts";
import { defineTool, type Tool, type ToolOutput, type ToolRun, type Withheld } from "../../loop/seams.ts";
import { planIn } from "./job-dir.ts";
import type { Job, JobEnd, JobPlan, JobRunner, JobSpec } from "./port.ts";

const DEFAULT_WAIT_MS = 120_000;
const MAX_WAIT_MS = 600_000;

export interface BashInput {
  command: string;
  timeout_ms?: number;
  run_in_background?: boolean;
  description?: string;
}

type Run = ToolRun & { input: BashInput };

export function createBashTool(runner: JobRunner): Tool<BashInput> {
  return defineTool<BashInput>({
    name: "bash",
    description:
      "Run a bash command; the directory persists. After timeout_ms (default 120000) it goes on in the background. `cmd &` dies with the call: use run_in_background.",
    schema: () =>
      z.strictObject({
        command: z.string().min(1),
        timeout_ms: z.int().positive().max(MAX_WAIT_MS).optional(),
        run_in_background: z.boolean().optional(),
        description: z.string().optional(),
      }),
    effect: "job",
    async intend(run) {
      if (run.input.command.includes("\0")) throw refused("a command cannot contain NUL bytes");
      try {
        return runner.plan(specOf(run));
      } catch (error) {
        throw refused(`the command could not be started: ${messageOf(error)}`);
      }
    },
    async execute(run) {
      const plan = planIn(run.intent);
      try {
        const job = await runner.start(plan, specOf(run));
        return await follow(run, plan, job);
      } catch (error) {
        if (isHoldfastError(error, "fenced")) throw error; // it was started
        return { ...cannotStart(run, error), after: () => runner.discard(plan) };
      }
    },
    async reconcile(run) {
      const plan = planIn(run.intent);
      const adopted = await runner.adopt(plan, specOf(run));
      switch (adopted.kind) {
        case "unstarted":
          return { kind: "undone" };
        case "gone":
          return { kind: "unknown", why: GONE };
        case "elsewhere":
          return { kind: "unknown", why: ELSEWHERE };
        case "job":
          return { kind: "adopted", follow: (inner) => follow({ ...inner, input: run.input }, plan, adopted.job) };
      }
    },
  });
}

const GONE =
  "[interrupted: the directory in which this command's run was kept is gone; whether the command ran is unknown]";
const ELSEWHERE =
  "[interrupted: another machine ran this, or this one before it was restarted, and it cannot be seen from here: whether the command ran, and how far it came, is unknown. Look before you repeat it]";

const specOf = (run: Run): JobSpec => ({
  context: run.turn.context,
  agent: run.turn.agent,
  callId: run.call.id,
  command: run.input.command,
  cwd: run.cwd,
  root: run.root,
  background: run.input.run_in_background ?? false,
  grants: run.grants,
});

async function follow(run: Run, plan: JobPlan, job: Job): Promise<ToolOutput> {
  const background = run.input.run_in_background ?? false;
  if (background) return inBackground(run, plan, job);
  const outcome = await job.wait({
    waitMs: run.input.timeout_ms ?? DEFAULT_WAIT_MS,
    signal: run.signal,
    onOutput: (text) => run.turn.emit({ type: "output", callId: run.call.id, text }),
  });
  if (outcome === "waiting") return inBackground(run, plan, job);
  const by = outcome === "aborted" ? interruptedBy(run.signal) : undefined;
  // What has network was killed with the lease; the rest runs on, and whoever has the agent next looks what became of it.
  if (by === "lease") {
    job.leave();
    throw leaseIsOver(run.turn.context, run.turn.agent, run.signal.reason);
  }
  if (by !== undefined) await job.kill({ lostLease: by === "host" });
  const end = job.end() ?? { status: "unknown", durationMs: 0 };
  const isAborted = by !== undefined;
  const { exitCode, durationMs: ms, lostLease } = end;
  const how = {
    ...(exitCode !== undefined && { exitCode }),
    ms,
    ...(lostLease && { lostLease }),
    ...(job.wasLeft() && { left: true as const }),
  };
  return {
    ...finished(run, job, end, isAborted && !lostLease ? INTERRUPTED : undefined),
    ran: { status: isAborted && !lostLease ? "interrupted" : end.status, ...how },
    after: () => job.remove(),
  };
}

const INTERRUPTED = "interrupted by the user; the command was killed";

/** In words; undefined when it ended well. The last line of the result says so too, in brackets. */
export const describeRan = ({ status, exitCode, ms, lostLease }: CommandEnd): string | undefined =>
  status === "interrupted"
    ? INTERRUPTED
    : describeEnd({
        ...{ status, durationMs: ms },
        ...(exitCode !== undefined && { exitCode }),
        ...(lostLease && { lostLease }),
      });

function finished(run: Run, job: Job, end: JobEnd, interrupted?: string): ToolOutput {
  const lines: string[] = [];
  const { text, missing } = job.output();
  if (text !== "") lines.push(text.endsWith("\n") ? text.slice(0, -1) : text);
  const how = interrupted ?? describeEnd(end);
  if (how !== undefined) lines.push(`[${how}]`);
  else if (text === "") lines.push("(no output)");
  if (missing !== undefined) lines.push(`[${missing}]`);
  const { withheld = [] } = run.grants;
  if (end.lackedNetwork && !withheld.some(({ what }) => what === "network")) lines.push(`[${LACKED_NETWORK}]`);
  lines.push(...describeTaken(job));
  lines.push(...describeHidden(run, job), ...lacks(run));
  const { line, events } = move(run, job.movedTo());
  if (line !== undefined) lines.push(line);
  return {
    content: lines.join("\n"),
    isError: how !== undefined,
    ...(events && { events }),
  };
}

/** Said of a fact that the kernel counts, not of what was printed. */
export const LACKED_NETWORK =
  'the sandbox has no network for this call, and something in it asked for another machine; the user can allow a command that needs it by a rule (permissions.allow, such as "Bash(npm install *)"), or all of them with "sandbox": { "network": "on" } in their own settings';

/** What it made and may not. */
export function describeTaken(job: Job): string[] {
  const taken = job.taken();
  if (!taken) return [];
  return [`[taken away, because commands may not make it here: ${taken.names.join(", ")} (kept in ${taken.dir})]`];
}

/** Nothing is printed of a folder that is hidden, and a command that lists it ends well: that must not pass for the truth. */
function describeHidden({ grants: { outside = [] } }: Run, job: Job): string[] {
  const hidden = job.hidden();
  if (hidden.length === 0) return [];
  const isOpen = outside.some((one) => one.isOpen && hidden.includes(one.path));
  const rule = isOpen ? "" : "allow exactly this command by a rule without * (run it alone then), or ";
  return [
    `[the sandbox hides ${hidden.join(", ")}: what is there cannot be told from this call; the user can ${rule}show the folder to all commands (--add-dir)]`,
  ];
}

/** What the sandbox kept from a command that needs it, and how it would get it. */
const WITHHELD: Record<Withheld["what"], Record<Withheld["because"], (part: string) => string>> = {
  network: {
    beside: (part) =>
      `the sandbox has no network for this call, because other commands stand beside: run \`${part}\` alone`,
    no_rule: (part) =>
      `the sandbox has no network for \`${part}\`: the user can allow it by a rule (--allowedTools "Bash(${part})", or permissions.allow in the settings)`,
  },
  git: {
    beside: (part) =>
      `.git is read-only for this call, because it runs more than git: run \`${part}\` alone, and what git would start for you (rebase -x, bisect run) as a call of its own`,
    no_rule: (part) => `.git is read-only for \`${part}\``,
  },
};

const lacks = ({ grants: { withheld = [] } }: Run): string[] =>
  withheld.map(({ what, because, part }) => `[${WITHHELD[what][because](part)}]`);

/** Undefined when there is nothing to say: it ended well. */
export function describeEnd(end: JobEnd): string | undefined {
  switch (end.status) {
    case "completed":
      return undefined;
    case "timeout":
      return "killed at its hard time limit";
    case "killed":
      if (end.lostLease) return LOST_LEASE;
      return end.because === "remade" ? "killed: it made again and again what commands may not make here" : "killed";
    case "unknown":
      return "interrupted: its supervisor is gone; whether the command finished is unknown";
    case "failed": {
      const signal = SIGNALS[(end.exitCode ?? 0) - 128];
      return `exit code ${end.exitCode}${signal ? ` (${signal})` : ""}`;
    }
  }
}

const LOST_LEASE =
  "killed with its lease: its host lost the store, was gone or was told to end; how far it came is not known";

const SIGNALS: Record<number, string> = {
  2: "SIGINT",
  6: "SIGABRT",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
};

function inBackground(run: Run, plan: JobPlan, job: Job): ToolOutput {
  const asked = run.input.run_in_background ?? false;
  const { command } = run.input;
  const started = { jobId: job.jobId, callId: run.call.id, command, dir: plan.dir, boot: plan.boot, background: asked };
  const printed = asked ? "" : job.output().text;
  const begun = asked
    ? `[Background job ${job.jobId} started]`
    : `${printed}${printed === "" || printed.endsWith("\n") ? "" : "\n"}[Background job ${job.jobId} started: still running, you will be told when it ends; see job_output, job_kill]`;
  return {
    content: [begun, ...describeHidden(run, job), ...lacks(run)].join("\n"), // what waits for a network in vain may not end for a long time
    events: [
      { type: "job.started", data: started },
      ...(asked ? [] : [{ type: "job.backgrounded", data: { jobId: job.jobId } }]),
    ],
  };
}

/** Where the command's shell says it is: its word, so links in it are followed before it is believed. */
function move(run: Run, said: string | undefined): { line?: string; events?: ToolOutput["events"] } {
  const to = said === undefined ? undefined : real(said);
  if (to === undefined || to === real(run.cwd)) return {};
  if (!isInside(real(run.root), to)) return { line: `[directory stays ${run.cwd}: ${to} is outside ${run.root}]` };
  return { events: [{ type: "agent.moved", data: { cwd: to } }] };
}

function cannotStart(run: Run, error: unknown): ToolOutput {
  if (errorCode(error) !== "ENOENT" || run.cwd === run.root) {
    return failure(`the command could not be started: ${messageOf(error)}`);
  }
  return {
    ...failure(`the directory ${run.cwd} no longer exists; the next command starts in ${run.root}`),
    events: [{ type: "agent.moved", data: { cwd: run.root } }],
  };
}

const failure = (content: string): ToolOutput => ({ content, isError: true });

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
