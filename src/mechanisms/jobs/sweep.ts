// Taking away the directories of jobs that nobody needs any more. The ledger is asked, never the clock alone.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { JobsState } from "./events.ts";
import { currentAttempt, type JobMeta, jobNames, jobState, modifiedAt, namesIn, planIn, readMeta } from "./job-dir.ts";

const DAY_MS = 86_400_000;
/** How long the output of a job that was reported can still be looked at. */
const KEEP_REPORTED_MS = 7 * DAY_MS;
/** Its time says when everything was last looked through. */
const SWEPT = ".swept";

/** Contract: the jobs of that context whose end is not recorded; a throw keeps them all. */
export type OwedJobs = (context: string) => Promise<ReadonlySet<string>>;

/** Intents without a result, and jobs in the background whose end was not reported. */
export function owedJobs({ state: { slices }, readOnly }: Ledger): ReadonlySet<string> {
  if (readOnly !== undefined)
    throw new HoldfastError("damaged", `what is owed cannot be read: ${readOnly.message}`, {
      detail: { what: readOnly.message },
    });
  const { agents } = slices.transcript as ContextState;
  const pending = Object.values(agents).flatMap((agent) => agent.pending);
  const intended = pending.flatMap(({ started }) => (started?.effect === "job" ? [planIn(started.intent).jobId] : []));
  const unreported = Object.values((slices.jobs ?? {}) as JobsState).flatMap((jobs) => Object.keys(jobs));
  return new Set([...intended, ...unreported]);
}

/**
 * Once a day. Nothing goes that runs, or whose end is in no ledger, however old it is; what a ledger has the end of goes a week later
 * (the output of a job in the background can be looked at until then), what no intent names goes after a day.
 */
export async function sweepJobs(dir: string, owed: OwedJobs): Promise<void> {
  if (Date.now() - modifiedAt(join(dir, SWEPT)) < DAY_MS) return;
  const names = jobNames(dir);
  const pipes = namesIn(dir).filter((name) => /^\.(?:(?:go|end|err|done)\d|until-)/.test(name));
  if (names.length + pipes.length === 0) return;
  writeFileSync(join(dir, SWEPT), "", { mode: 0o600 });
  const asked = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  const isOwed = async ({ context, jobId }: JobMeta): Promise<boolean> => {
    if (!asked.has(context))
      asked.set(
        context,
        owed(context).catch(() => undefined),
      );
    const jobs = await asked.get(context);
    return jobs === undefined || jobs.has(jobId);
  };
  for (const name of names) {
    const at = join(dir, name);
    const ageMs = Date.now() - modifiedAt(at);
    if (ageMs < DAY_MS) continue;
    const attempt = currentAttempt(at);
    const { phase } = jobState(attempt);
    if (phase === "running") continue;
    const meta = readMeta(attempt) ?? readMeta(at);
    // A power loss may have taken its first line: whatever began is kept for whoever asks.
    if (!meta && phase !== "unstarted") continue;
    if (phase === "ended" && ageMs < KEEP_REPORTED_MS) continue;
    if (!meta || !(await isOwed(meta))) rmSync(at, { recursive: true, force: true });
  }
  // What a supervisor that was killed left of its own.
  for (const name of pipes)
    if (Date.now() - modifiedAt(join(dir, name)) > KEEP_REPORTED_MS) rmSync(join(dir, name), { force: true });
}
