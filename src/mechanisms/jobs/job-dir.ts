// The directory of a job: reading what became of it, its output, ending it. Pure functions over files; no harness needed.

import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isInside } from "../../file-access/paths.ts";
import { errorCode, isRecord } from "../../ledger/guards.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { linkOf, readText } from "./job-files.ts";
import { jobOutput } from "./output.ts";
import type { JobEnd, JobListing, JobPlan, JobSpec } from "./port.ts";
import {
  askToEnd,
  bootId,
  groupLives,
  isAlive,
  isHeld,
  type Leader,
  parseStat,
  pidNamespace,
  shellHasEnded,
  signal,
} from "./process.ts";

export interface JobMeta extends JobSpec {
  jobId: string;
  startedAt: number;
  boot: string;
}

export type JobState =
  /** Its supervisor has not come to its first act (and may never). */
  | { phase: "unstarted" }
  /** It was decided that this attempt never runs. */
  | { phase: "abandoned" }
  | { phase: "running" }
  /** The supervisor is gone without a word: a reboot, or killed. */
  | { phase: "lost" }
  | { phase: "ended"; said: string };

const ABANDONED = "abandoned\n";
/** Why a supervisor killed it: what it took away was there again and again. */
const REMADE = "remade\n";
/** Why it was killed, by its host or its supervisor (lease-timer.sh): its agent's lease had run out, or was given up. */
const LOST_LEASE = "lease\n";
/** A command and what it prints are nobody else's. */
const OWN = { mode: 0o600 };
const MAX_END_BYTES = 16_384;
/** Between creating `started` and writing into it. */
const STARTING_MS = 2_000;
const TERM_GRACE_MS = 500;
/** A supervisor that has not come to its first act by now never will. */
export const START_WITHIN_MS = 5_000;
const JOB_ID = /^job_[0-9a-z]+$/;

/** The attempt that counts: the first one that was not abandoned. It need not exist yet. */
export function currentAttempt(dir: string): string {
  for (let n = 1; ; n++) {
    const attempt = n === 1 ? dir : join(dir, String(n));
    if (readText(join(attempt, "started")) !== ABANDONED || readText(join(attempt, "killed")) !== undefined)
      return attempt;
  }
}

/** Makes the directory of a job that is about to be intended, with all that is known of it. */
export function makeJobDir(dir: string, meta: JobMeta): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    makeDir(dir); // the first job here
  }
  writeMeta(dir, meta);
}

/** The directory of the attempt that is to run now; made anew where it is not there. */
export function newAttempt(dir: string, meta: JobMeta): string {
  const attempt = currentAttempt(dir);
  makeDir(attempt);
  writeMeta(attempt, meta);
  return attempt;
}

export function jobState(attempt: string): JobState {
  const said = exitOf(attempt);
  if (said !== undefined) return { phase: "ended", said };
  const started = readText(join(attempt, "started"));
  if (started === undefined) return { phase: "unstarted" };
  if (started === ABANDONED) return { phase: "abandoned" };
  if (!started.endsWith("\n")) {
    const fresh = Date.now() - modifiedAt(join(attempt, "started")) < STARTING_MS;
    return { phase: fresh ? "running" : "lost" };
  }
  const { supervisor, pipe } = processesOf(attempt);
  if (supervisor && isAlive(supervisor.pid, supervisor.startedAt)) return { phase: "running" };
  if (pipe !== undefined && isHeld(pipe)) return { phase: "running" };
  const last = exitOf(attempt) ?? shellSaid(attempt); // it may have ended between the two looks
  return last === undefined ? { phase: "lost" } : { phase: "ended", said: last };
}

/** Whether the command's own shell is gone, whatever it said. */
export function shellIsGone(attempt: string, enclosed: boolean): boolean {
  const { command } = processesOf(attempt);
  return command !== undefined && shellHasEnded(command, enclosed);
}

/** Its supervisor died before it could write what came of it; its shell had said so. */
function shellSaid(attempt: string): string | undefined {
  const { code } = shellEnd(attempt);
  return code === undefined ? undefined : String(code);
}

/** Undefined while it runs, or may yet start. Its supervisor may have `told` its exit code: then that need not be looked up. */
export function jobEnd(attempt: string, startedAt: number, told?: number): JobEnd | undefined {
  const state: JobState = told === undefined ? jobState(attempt) : { phase: "ended", said: String(told) };
  if (state.phase === "running") return undefined;
  const killed = readText(join(attempt, "killed"));
  if (state.phase === "unstarted" && killed === undefined) return undefined;
  const because = killedBecause(killed);
  if (state.phase !== "ended") {
    const at = modifiedAt(join(attempt, killed === undefined ? "out" : "killed")) || startedAt;
    const durationMs = Math.max(0, Math.round(at - startedAt));
    return { status: killed === undefined ? "unknown" : "killed", ...because, durationMs };
  }
  const at = told === undefined ? modifiedAt(join(attempt, "exit")) || modifiedAt(join(attempt, "cwd")) : Date.now();
  const durationMs = Math.max(0, Math.round(at - startedAt));
  if (state.said === "timeout") return { status: "timeout", durationMs };
  const exitCode = Number(state.said);
  if (killed !== undefined) return { status: "killed", ...because, exitCode, durationMs };
  if (exitCode === 0) return { status: "completed", exitCode, durationMs };
  const isOffline = lstatSync(join(attempt, "offline"), { throwIfNoEntry: false }) !== undefined;
  return { status: "failed", ...(isOffline && { lackedNetwork: true }), exitCode, durationMs };
}

function killedBecause(killed: string | undefined): Pick<JobEnd, "because" | "lostLease"> {
  if (killed === REMADE) return { because: "remade" };
  return killed === LOST_LEASE ? { lostLease: true } : {};
}

/** Contract: true when this attempt will never run; false when its supervisor was faster, or its directory is gone. */
export function abandon(attempt: string): boolean {
  try {
    writeFileSync(join(attempt, "started"), ABANDONED, { ...OWN, flag: "wx" });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return false; // who took the directory away may have seen it run
    if (code === "EEXIST") return readText(join(attempt, "started")) === ABANDONED;
    throw error;
  }
}

const LEFT = "left";

/** A host that lost its lease let it run on. Contract: what cannot be noted is not. */
export function markLeft(attempt: string): void {
  try {
    writeFileSync(join(attempt, LEFT), "", OWN);
  } catch {
    // its folder is gone, or the disk is full: it is adopted as after a crash
  }
}

export const isLeft = (attempt: string): boolean => existsSync(join(attempt, LEFT));

/** Ends the whole process group, kindly first unless `atOnce`. Contract: resolves when nothing of it runs. */
export async function killAttempt(attempt: string, { lostLease = false, atOnce = false } = {}): Promise<void> {
  try {
    writeFileSync(join(attempt, "killed"), lostLease ? LOST_LEASE : "\n", { ...OWN, flag: "wx" });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") return;
  }
  if (abandon(attempt)) return;
  const deadline = Date.now() + (atOnce ? 0 : TERM_GRACE_MS);
  while (jobState(attempt).phase === "running" && !processesOf(attempt).command && Date.now() < deadline)
    await sleep(5);
  const { supervisor, command } = processesOf(attempt);
  if (command) await endGroup(command, deadline);
  // It writes the exit code before it goes.
  while (supervisor && isAlive(supervisor.pid, supervisor.startedAt) && Date.now() < deadline) await sleep(5);
}

/** A supervisor may stop a command while it cuts its output: one that was killed in that moment let it stand. */
export function letGoOn(attempt: string): void {
  const { command } = processesOf(attempt);
  if (command && groupLives(command)) signal(-command.pid, "SIGCONT");
}

/** What a supervisor that was killed alone left behind. */
export async function killLeftovers(attempt: string): Promise<void> {
  const { command } = processesOf(attempt);
  if (command && readMeta(attempt)?.boot === bootId()) await endGroup(command, 0);
}

async function endGroup(leader: Leader, deadline: number): Promise<void> {
  const { pid } = leader;
  if (!groupLives(leader)) return;
  if (Date.now() < deadline) askToEnd(leader);
  while (Date.now() < deadline && groupLives(leader)) await sleep(10);
  while (groupLives(leader)) {
    signal(-pid, "SIGKILL");
    await sleep(5);
  }
}

/**
 * `started` has a line for the supervisor and one for the command, the leader of its process group: each its pid and, where
 * there is a /proc, what that shows of the process. Then the supervisor's tag, which begins with its pid namespace: in another one
 * those pids are other processes, and only the pipe that all of them hold open tells whether one still lives.
 */
function processesOf(attempt: string): { supervisor?: Leader; command?: Leader; pipe?: string } {
  const [first = "", second = "", tag = ""] = (readText(join(attempt, "started")) ?? "").split("\n");
  const isOurs = tag === "" || tag.startsWith(`${pidNamespace()}.`);
  if (isOurs) return { supervisor: leaderIn(first), command: leaderIn(second) };
  const base = attempt.slice(0, attempt.lastIndexOf("/job_"));
  return { pipe: join(base, `.done${tag}`) };
}

function leaderIn(line: string): Leader | undefined {
  const pid = Number.parseInt(line, 10);
  if (Number.isNaN(pid)) return undefined;
  const { startedAt = "", session = 0 } = parseStat(line) ?? {};
  return { pid, startedAt, session };
}

/** Where what it prints goes; past its bound its middle is gone. */
export const outputFile = (dir: string): string => join(currentAttempt(dir), "out");

/** It asked for another machine, and its sandbox has no network. */
export function markOffline(attempt: string): void {
  try {
    writeFileSync(join(attempt, "offline"), "", OWN);
  } catch {} // it is over, and its directory gone
}

/** Nobody waits for it any more: what it makes and may not is taken away while it runs. */
export function leaveBehind(attempt: string): void {
  writeFileSync(join(attempt, "behind"), "", OWN);
}

/** What the command made and may not: taken away, and kept here. */
export function takenFrom(dir: string, name: string): { dir: string; names: string[] } | undefined {
  const kept = join(dir, "..", "taken", name);
  if (!lstatSync(kept, { throwIfNoEntry: false })) return undefined;
  try {
    return { dir: kept, names: readdirSync(kept).filter((name) => !/^\d+$/.test(name)) }; // what was made again lies in numbered folders
  } catch {
    return undefined;
  }
}

/** What a command's shell said at its end: where it is; and what it ended with, unless the command set a trap of its own. */
export function shellEnd(attempt: string): { dir?: string; code?: number } {
  const [said, dir, code] = /^(\/[^\0]*?)\n(?:=(\d+)\n)?$/.exec(firstOf(join(attempt, "cwd"), MAX_END_BYTES)) ?? [];
  if (said === undefined) return {};
  return { dir, ...(code !== undefined && { code: Number(code) }) };
}

function firstOf(path: string, max: number): string {
  try {
    const fd = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(max);
      return bytes.toString("utf8", 0, readSync(fd, bytes, 0, max, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}

/** One file: a line of facts, then the command as its shell reads it. */
function writeMeta(attempt: string, { command, ...facts }: JobMeta): void {
  writeFileSync(join(attempt, "job"), `${JSON.stringify(facts)}\n${command}`, OWN);
}

export function readMeta(attempt: string): JobMeta | undefined {
  try {
    const text = readFileSync(join(attempt, "job"), "utf8");
    const line = text.indexOf("\n");
    return { ...JSON.parse(text.slice(0, line)), command: text.slice(line + 1) };
  } catch {
    return undefined; // not there, or cut off by a crash
  }
}

/** Every job of a state directory, oldest first. */
export function listJobs(dir: string): JobListing[] {
  return jobNames(dir).flatMap((name) => {
    const attempt = currentAttempt(join(dir, name));
    const meta = readMeta(attempt);
    if (!meta || isOnlyPlanned(attempt, meta)) return [];
    const end = jobEnd(attempt, meta.startedAt);
    const { jobId, context, agent, command, cwd, startedAt } = meta;
    const status = jobState(attempt).phase === "unstarted" ? "starting" : "running";
    return [{ jobId, context, agent, command, cwd, startedAt, status, ...end }];
  });
}

/** Its directory is there since before it was decided on; what has not begun by now waits for whoever decides what became of it. */
const isOnlyPlanned = (attempt: string, { startedAt, boot }: JobMeta): boolean =>
  jobState(attempt).phase === "unstarted" && (boot !== bootId() || Date.now() - startedAt > START_WITHIN_MS);

/** How many run in that directory, or below it. */
export const jobsIn = (dir: string, place: string): number =>
  listJobs(dir).filter(({ status, cwd }) => (status === "running" || status === "starting") && isInside(place, cwd))
    .length;

/** One job with what it printed. */
export function showJob(dir: string, jobId: string): (JobListing & { output: string; missing?: string }) | undefined {
  const job = listJobs(dir).find((j) => j.jobId === jobId);
  if (!job) return undefined;
  const { text, missing } = jobOutput(currentAttempt(join(dir, jobId)));
  return { ...job, output: text, ...(missing !== undefined && { missing }) };
}

/** Contract: false when there is no such job, or it has ended. */
export async function killJob(dir: string, jobId: string): Promise<boolean> {
  if (!JOB_ID.test(jobId)) return false;
  const attempt = currentAttempt(join(dir, jobId));
  const meta = readMeta(attempt);
  if (!meta || jobEnd(attempt, meta.startedAt)) return false;
  await killAttempt(attempt);
  return true;
}

/** The plan of a job as a ledger has it: written by an earlier process, or by whoever else may write there. */
export function planIn(intent: unknown): JobPlan {
  const { jobId, dir, boot, machine } = isRecord(intent) ? intent : {};
  return {
    ...{ jobId: textOf(jobId), dir: textOf(dir), boot: textOf(boot) },
    ...(typeof machine === "string" && { machine }),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Contract: what is none leads nowhere: whoever makes a path of one that stood in a ledger asks first. */
export const isJobId = (id: unknown): id is string => typeof id === "string" && JOB_ID.test(id);

/** A file without its newline is not finished. */
function exitOf(attempt: string): string | undefined {
  const text = readText(join(attempt, "exit"));
  if (text?.endsWith("\n")) return text.trim();
  return linkOf(join(attempt, "exit")); // the disk was full
}

export const jobNames = (dir: string): string[] => namesIn(dir).filter((name) => JOB_ID.test(name));

export function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}

export function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
