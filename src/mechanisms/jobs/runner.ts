// Running jobs: planning, starting, waiting, and adopting those of a dead process.
import { existsSync, type FSWatcher, readdirSync, rmSync, unlinkSync, watch } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { isInside } from "../../file-access/paths.ts";
import { crashPoint } from "../../ledger/crash-point.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { thisHolder } from "../../ledger/holder.ts";
import { newId } from "../../ledger/id.ts";
import type { LeaseWatch } from "../../loop/lease-watch.ts";
import {
  abandon,
  currentAttempt,
  isJobId,
  isLeft,
  type JobMeta,
  jobEnd,
  jobState,
  killAttempt,
  killLeftovers,
  leaveBehind,
  letGoOn,
  listJobs,
  makeJobDir,
  markLeft,
  newAttempt,
  readMeta,
  shellEnd,
  takenFrom,
} from "./job-dir.ts";
import { createLeaseDeadlines } from "./lease-deadlines.ts";
import { jobOutput, OUTPUT_BYTES, outputSince } from "./output.ts";
import type { Job, JobPlan, JobRunner, JobSpec } from "./port.ts";
import { bootId } from "./process.ts";
import type { Enclose, Enclosure } from "./sandbox.ts";
import { createSupervisor, type Supervised, type Supervisor, stayFor } from "./supervisor.ts";

/** The reason of an abort that nobody sees: without one, an error with a stack would be made for each. */
const NO_MORE = "no more";
const PROGRESS_MS = 500;
const PROGRESS_BYTES = 16_384;
/** One for each way in which commands are shut in: two for each agent with a tree of its own (with and without git). */
const MAX_SUPERVISORS = 48;
const NO_JOB: JobSpec = { context: "", agent: "", callId: "", command: "", cwd: "", background: false };
/** Notifications of the file system come at once; this is for those that get lost. */
const POLL_MS = 1_000;

export interface RunnerOptions {
  /** Holds one directory a job. */
  dir: string;
  /** A command is killed only then. Default: a day. */
  hardLimitMs?: number;
  /** Past this only head and tail are kept. Default: 64 MB. */
  outputBytes?: number;
  /** What commands see of our environment. Default: a short list of names. */
  env?: Record<string, string>;
  /** Shuts a command in; default: nothing holds it. */
  sandbox?: Enclose;
  /** Supervisors that are kept; the one that was not used for longest goes first. */
  supervisors?: number;
}

export interface Runner extends JobRunner, Required<LeaseWatch> {
  /** Makes the next start faster, when there is time for it. */
  prepare(context: string, root: string): void;
  /** Paths that a person let something make: no running command is taken to have made them. */
  spare(paths: string[]): void;
  /** Resolves when what was begun to be removed is gone. */
  settled(): Promise<void>;
}

export function createRunner(opts: RunnerOptions): Runner {
  const supervisors = new Map<
    string,
    { kind: string; supervisor: Supervisor; enclosure?: Enclosure; spared: Set<string> }
  >();
  const prepared = new Set<string>();
  const deadlines = createLeaseDeadlines(opts.dir);
  /** Their directories are made, and they are not started yet. */
  const planned = new Map<string, JobMeta>();
  /** Commands that have ended while their supervisor still cleans up behind them. */
  const leaving = new Set<Promise<void>>();
  const seeOff = async ({ ended, over }: Supervised): Promise<void> => {
    let isOver = false;
    over.then(() => {
      isOver = true;
    });
    await ended;
    if (isOver) return;
    const gone = over.finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  /** A command that runs may have made what was missing when it started: no mount relies on that. */
  const enclosed = (spec: JobSpec): Enclosure | undefined => {
    const unsure = new Set<string>();
    for (const { supervisor, enclosure, spared } of supervisors.values()) {
      if (!enclosure || !supervisor.busy) continue;
      for (const path of [...enclosure.absent, ...enclosure.unmade]) if (!spared.has(path)) unsure.add(path);
    }
    return opts.sandbox?.(spec, unsure);
  };
  const open = (enclosure: Enclosure | undefined): Supervisor => {
    const { kind = "", outer = [], wrap = [], absent = [], stamp = "" } = enclosure ?? {};
    const key = [...outer, "", ...wrap, "", ...absent, "", stamp].join("\0");
    const known = supervisors.get(key);
    if (known) {
      supervisors.delete(key); // the most recently used one comes last
      supervisors.set(key, known);
      return known.supervisor;
    }
    const { hardLimitMs = 86_400_000, outputBytes = OUTPUT_BYTES } = opts;
    const made = createSupervisor(opts.dir, { hardLimitMs, outputBytes, env: opts.env, enclosure });
    for (const [other, { supervisor, ...of }] of supervisors) {
      // One of the same kind sees the machine as it was.
      if (of.kind !== kind && supervisors.size < (opts.supervisors ?? MAX_SUPERVISORS)) continue;
      if (supervisor.busy) continue; // it could not take what still waits for a worker
      supervisors.delete(other);
      supervisor.close();
    }
    supervisors.set(key, { kind, supervisor: made, enclosure, spared: new Set() });
    return made;
  };
  const removing = new Set<Promise<void>>();
  const remove = (jobId: string): void => {
    if (!isJobId(jobId)) return; // a ledger may name anything
    const gone = removeDir(join(opts.dir, jobId)).finally(() => removing.delete(gone));
    removing.add(gone);
  };
  const jobAt = (
    attempt: string,
    meta: JobMeta,
    { supervised, root, hidden = () => [] }: { supervised?: Supervised; root?: string; hidden?: () => string[] } = {},
  ) =>
    createJob({
      attempt,
      meta,
      root,
      hidden,
      dir: opts.dir,
      supervised,
      remove: () => (supervised ? void supervised.over.then(() => remove(meta.jobId)) : remove(meta.jobId)),
    });
  return {
    prepare(context, root) {
      const key = `${context} ${root}`;
      if (prepared.has(key)) return;
      prepared.add(key);
      try {
        open(enclosed({ ...NO_JOB, context, root })).prepare();
      } catch {} // no room, no descriptor: the first command tries again and says so
    },
    plan(spec) {
      const jobId = newId("job");
      const meta: JobMeta = { jobId, ...spec, startedAt: Date.now(), boot: bootId() };
      const dir = join(opts.dir, jobId);
      makeJobDir(dir, meta);
      planned.set(jobId, meta);
      crashPoint("job.planned");
      return { jobId, dir, boot: meta.boot, machine: thisHolder(false).machine };
    },
    async start(plan, spec) {
      if (!isJobId(plan.jobId)) throw new HoldfastError("refused", `${plan.jobId} is not the id of a job`);
      const dir = join(opts.dir, plan.jobId);
      const made = planned.get(plan.jobId);
      planned.delete(plan.jobId);
      const meta = made ?? { jobId: plan.jobId, ...spec, startedAt: Date.now(), boot: bootId() };
      const attempt = made ? dir : newAttempt(dir, meta);
      crashPoint("job.intended");
      if (spec.background) leaveBehind(attempt);
      if (leaving.size > 0) await stayFor(Promise.all(leaving));
      const enclosure = enclosed(spec);
      if (enclosure?.network ?? true) deadlines.bind(attempt, spec);
      const supervised = await open(enclosure).start(attempt.slice(opts.dir.length + 1), spec.cwd);
      crashPoint("job.spawned");
      void seeOff(supervised);
      const outside = (spec.grants?.outside ?? []).map(({ path }) => path);
      const hidden = () => (enclosure ? outside.filter((path) => !enclosure.shows(path)) : []);
      return jobAt(attempt, meta, { supervised, hidden });
    },
    async adopt(plan, of) {
      if (!isJobId(plan.jobId)) return { kind: "elsewhere" };
      const dir = join(opts.dir, plan.jobId);
      if (!existsSync(dir)) return { kind: isFromHere(plan) ? "gone" : "elsewhere" };
      const attempt = currentAttempt(dir);
      if (!existsSync(attempt)) return { kind: "unstarted" }; // all there was is abandoned
      const meta = readMeta(attempt);
      // A copy of a context names the jobs of the original.
      if (meta && !(meta.context === of.context && meta.agent === of.agent && meta.callId === of.callId))
        return { kind: "elsewhere" };
      const started = jobState(attempt).phase !== "unstarted";
      // After a power loss the file that says "started" may be lost while what the command did is not.
      if (!started && plan.boot !== bootId()) return { kind: "elsewhere" };
      if (!started && abandon(attempt)) return { kind: "unstarted" };
      letGoOn(attempt);
      return meta ? { kind: "job", job: jobAt(attempt, meta, { root: of.root }) } : { kind: "elsewhere" };
    },
    discard(plan) {
      planned.delete(plan.jobId);
      remove(plan.jobId);
    },
    find(context, jobId) {
      if (!isJobId(jobId)) return undefined;
      const attempt = currentAttempt(join(opts.dir, jobId));
      const meta = readMeta(attempt);
      return meta?.context === context ? jobAt(attempt, meta) : undefined;
    },
    leaseRenewed: deadlines.renewed,
    leaseLost: deadlines.lost,
    spare(paths) {
      for (const { supervisor, spared } of supervisors.values())
        if (supervisor.busy) for (const path of supervisor.spare(paths)) spared.add(path);
    },
    async settled() {
      await Promise.all(removing);
    },
    list: (context) => listJobs(opts.dir).filter((j) => j.context === context),
  };
}

/** Older versions did not record the machine. */
const isFromHere = ({ boot, machine }: JobPlan): boolean =>
  boot === bootId() && (machine === undefined || machine === thisHolder(false).machine);

interface JobParts {
  attempt: string;
  meta: JobMeta;
  /** Where its tree is now, if that is known. */
  root?: string;
  hidden: () => string[];
  dir: string;
  supervised?: Supervised;
  remove: () => void;
}

function createJob(of: JobParts): Job {
  const { attempt, meta, supervised } = of;
  let told: number | undefined;
  const ended = async (signal: AbortSignal) => {
    const looked = { dirs: [attempt], ended: () => hasEnded(attempt, supervised !== undefined), signal };
    const look = untilEnded({ ...looked, watched: supervised === undefined }).then(() => undefined);
    told = await (supervised ? Promise.race([supervised.ended, look]) : look);
    // Its worker goes on without the supervisor, and writes what came of it.
    if (told === undefined && jobState(attempt).phase === "running") {
      letGoOn(attempt);
      await look;
    }
    // Whoever killed the supervisor alone left its command running.
    if (told === undefined && jobState(attempt).phase === "lost") await killLeftovers(attempt);
    // The shell that should have run it is gone: nobody will.
    if (told === undefined && supervised && jobState(attempt).phase === "unstarted" && abandon(attempt)) {
      if (supervised.problem !== undefined) throw new HoldfastError("refused", supervised.problem);
    }
    crashPoint("job.ended");
  };
  return {
    jobId: meta.jobId,
    wait: (how) => waitFor(attempt, ended, how),
    leave: () => markLeft(attempt),
    wasLeft: () => isLeft(attempt),
    async kill({ lostLease = false } = {}) {
      await killAttempt(attempt, { lostLease });
    },
    end: () => jobEnd(attempt, meta.startedAt, told),
    output: () => jobOutput(attempt),
    taken: () => takenFrom(of.dir, attempt.slice(of.dir.length + 1)),
    hidden: of.hidden,
    movedTo() {
      const { dir } = shellEnd(attempt);
      const { root: began } = meta;
      // The shell named the directory as it was called then; the tree may have moved since.
      if (dir === undefined || began === undefined || of.root === undefined || !isInside(began, dir)) return dir;
      return join(of.root, relative(began, dir));
    },
    // Removed later, during the next model call: nobody waits for it then.
    remove: of.remove,
  };
}

async function waitFor(
  attempt: string,
  ended: (signal: AbortSignal) => Promise<void>,
  { waitMs, signal, onOutput }: Parameters<Job["wait"]>[0],
): ReturnType<Job["wait"]> {
  if (signal.aborted) return "aborted";
  const stop = new AbortController();
  let progress: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;
  try {
    return await new Promise<"ended" | "waiting" | "aborted">((resolve, reject) => {
      ended(stop.signal).then(() => resolve("ended"), reject);
      timer = setTimeout(() => {
        leaveBehind(attempt);
        resolve("waiting");
      }, waitMs);
      signal.addEventListener("abort", () => resolve("aborted"), { once: true, signal: stop.signal });
      if (!onOutput) return;
      progress = setInterval(() => {
        const { text, next } = outputSince(attempt, seen, PROGRESS_BYTES);
        seen = next;
        if (text !== "") onOutput(text);
      }, PROGRESS_MS);
    });
  } finally {
    clearTimeout(timer);
    clearInterval(progress);
    stop.abort(NO_MORE);
  }
}

async function removeDir(dir: string): Promise<void> {
  await breathe();
  try {
    // All of them first: who removes a directory under whose feet files vanish may leave it standing. Aside, each would take ten times
    // the work; a directory that was mounted in a sandbox is waited for.
    for (const name of readdirSync(dir)) unlinkSync(join(dir, name));
    await rmdir(dir);
  } catch {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A job that was just given to its supervisor may still be `unstarted`: that is no end. */
function hasEnded(attempt: string, handedOver: boolean): boolean {
  const { phase } = jobState(attempt);
  return phase !== "running" && !(handedOver && phase === "unstarted");
}

interface UntilEnded {
  dirs: string[];
  ended: () => boolean;
  signal: AbortSignal;
  /** Be told by the file system at once; without it only a slow look now and then. */
  watched: boolean;
}

/** Resolves when `ended` says so, or on abort. */
export function untilEnded(opts: UntilEnded): Promise<void> {
  return new Promise((resolve) => {
    const watchers: FSWatcher[] = [];
    const done = () => {
      clearInterval(poll);
      for (const watcher of watchers) watcher.close();
      resolve();
    };
    const look = () => {
      if (opts.ended()) done();
    };
    const poll = opts.dirs.length === 0 ? undefined : setInterval(look, POLL_MS);
    opts.signal.addEventListener("abort", done, { once: true });
    for (const dir of opts.watched ? opts.dirs : []) {
      try {
        const watcher = watch(dir, (_, name) => name === "exit" && look());
        watcher.on("error", () => watcher.close());
        watchers.push(watcher);
      } catch {
        // no such directory any more: `ended` says so
      }
    }
    if (opts.signal.aborted) done();
    else if (opts.watched) look();
  });
}
