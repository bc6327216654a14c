// Making a schedule of what was asked for: limits are checked, and what was understood is said back.
import { HoldfastError } from "../../ledger/error.ts";
import { newId } from "../../ledger/id.ts";
import type { MissedPolicy, Schedule, ScheduleState } from "./events.ts";
import { compile } from "./expression.ts";
import { firesAt, jitterOf } from "./firing.ts";
import type { Read } from "./when.ts";
import { knownZone, showTime } from "./zone.ts";

const DAY_MS = 86_400_000;
/** Schedules of one agent. */
const MOST_SCHEDULES = 50;
const MOST_AHEAD_MS = 5 * 366 * DAY_MS;
/** A repeating schedule that nobody renews ends by itself. */
const EXPIRES_AFTER_MS = 30 * DAY_MS;
export const MOST_JITTER_S = 900;
export const MOST_PROMPT_CHARS = 4_000;

export interface ScheduleRequest {
  when: string;
  prompt: string;
  time_zone?: string;
  missed?: MissedPolicy;
  jitter_seconds?: number;
  until?: string;
}

export interface Planned {
  schedule: Schedule & { next: number };
  /** What was understood, for whoever asked. */
  echo: string;
}

/** Contract: throws `invalid` or `limit` with one line that says what to do. */
export async function planSchedule(
  asked: ScheduleRequest,
  opts: { now: number; zone: string; by: string; standing: readonly ScheduleState[] },
): Promise<Planned> {
  const { now, by, standing } = opts;
  if (standing.length >= MOST_SCHEDULES) {
    throw new HoldfastError("limit", `${standing.length} schedules are set and no more may be: cancel one first`);
  }
  const prompt = asked.prompt.trim();
  if (prompt === "") throw new HoldfastError("invalid", "the prompt is empty: say what is to be done then");
  if (prompt.length > MOST_PROMPT_CHARS) {
    throw new HoldfastError(
      "invalid",
      `the prompt has ${prompt.length} characters, at most ${MOST_PROMPT_CHARS} may be`,
    );
  }
  const zone = zoneOf(asked.time_zone ?? opts.zone);
  const { readWhen } = await import("./when.ts");
  const read = readWhen(asked.when, { now, zone });
  if (!read.ok) throw new HoldfastError("invalid", read.error);
  const { when } = read;
  const scheduleId = newId("sch");
  const common: Omit<Schedule, "jitterMs"> = {
    scheduleId,
    prompt,
    when: asked.when.trim(),
    zone,
    missed: asked.missed ?? "once",
    by,
    createdAt: now,
  };
  if (when.kind === "once") {
    if (when.at - now > MOST_AHEAD_MS) throw new HoldfastError("invalid", "that is more than five years ahead");
    const schedule = { ...common, jitterMs: 0, next: when.at };
    return { schedule, echo: `Scheduled ${scheduleId}: once, ${showTime(when.at, zone)}` };
  }
  const expiresAt =
    asked.until === undefined ? now + EXPIRES_AFTER_MS : endOf(readWhen(asked.until, { now, zone }), now);
  return planRepeating({ ...common, expression: when.expression, expiresAt }, asked);
}

/** One that repeats must be due before it ends. */
async function planRepeating(
  { expiresAt, ...common }: Omit<Schedule, "jitterMs"> & { expression: string; expiresAt: number },
  asked: ScheduleRequest,
): Promise<Planned> {
  const { scheduleId, expression, zone, createdAt } = common;
  const next = (await compile(expression, zone))(createdAt);
  if (next === undefined) {
    throw new HoldfastError("invalid", `the cron expression "${expression}" never comes due: there is no such date`);
  }
  if (next > expiresAt) {
    const why =
      asked.until === undefined ? "a repeating schedule ends after 30 days unless `until` says otherwise" : "";
    throw new HoldfastError(
      "invalid",
      `it would end at ${showTime(expiresAt, zone)}, before it is first due at ${showTime(next, zone)}${why && `: ${why}`}`,
    );
  }
  const jitterMs = (asked.jitter_seconds ?? 0) * 1000;
  const schedule = { ...common, jitterMs, expiresAt, next };
  const late = jitterOf(schedule);
  const echo = [
    `Scheduled ${scheduleId}: repeats as cron "${expression}" in ${zone}, next ${showTime(next, zone)}`,
    ...(late > 0 ? [`each time ${Math.round(late / 1000)} s later (jitter)`] : []),
    `ends ${showTime(expiresAt, zone)}`,
  ].join("; ");
  return { schedule, echo };
}

function zoneOf(name: string): string {
  const zone = knownZone(name);
  if (zone) return zone;
  throw new HoldfastError(
    "invalid",
    `unknown time zone "${name}": use an IANA name such as Europe/Berlin or Asia/Tokyo`,
  );
}

function endOf(read: Read, now: number): number {
  if (!read.ok) throw new HoldfastError("invalid", `until: ${read.error}`);
  if (read.when.kind === "cron") throw new HoldfastError("invalid", "until: say one moment, not a repetition");
  if (read.when.at - now > MOST_AHEAD_MS) throw new HoldfastError("invalid", "until: more than five years ahead");
  return read.when.at;
}

/** One line for a listing. */
export function showSchedule(s: ScheduleState): string {
  const facts = [
    `${s.scheduleId} next ${showTime(firesAt(s), s.zone)}`,
    s.expression === undefined ? "once" : `cron "${s.expression}"`,
    ...(s.missed === "once" ? [] : [`missed: ${s.missed}`]),
    ...(s.fired > 0 ? [`fired ${s.fired}×`] : []),
    ...(s.skipped > 0 ? [`passed over ${s.skipped}×`] : []),
    ...(s.expiresAt === undefined ? [] : [`ends ${showTime(s.expiresAt, s.zone)}`]),
  ];
  const prompt = s.prompt.replace(/\s+/g, " ");
  return `${facts.join("; ")}: ${prompt.length > 120 ? `${prompt.slice(0, 120)}…` : prompt}`;
}
