// Schedules: durable in the context's ledger, fired once by whoever holds the agent, waking it when it is idle.
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../ledger/error.ts";
import { defineMechanism, type Mechanism, type Note, type Turn } from "../../loop/seams.ts";
import { fittingLines } from "../../text/fitting.ts";
import { cronEvents, cronSlice, type ScheduleState } from "./events.ts";
import { compile, type NextAfter } from "./expression.ts";
import { decideFiring, firesAt } from "./firing.ts";
import { firingId, firingNotes } from "./notes.ts";
import { showSchedule } from "./plan.ts";
import { armedAt, nextFiring, schedulesOf, wakeAt } from "./schedules.ts";
import { createCronTools } from "./tools.ts";
import { localZone } from "./zone.ts";

/** Timers stop while a machine sleeps and know nothing of a clock that is set: the wall clock is looked at again after this long. */
const LONGEST_SLEEP_MS = 30_000;
/** A firing that could not be recorded is not tried again at once. */
const RETRY_MS = 5_000;

/** Of the window, for what must not go with the past. */
const SHARE = 0.02;

export interface CronClock {
  /** Wall-clock milliseconds. */
  now(): number;
  /** Contract: resolves after that long, or on abort. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface CronOptions {
  clock?: CronClock;
  /** For times that name none; default: the machine's. */
  zone?: string;
}

const systemClock: CronClock = {
  now: Date.now,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
};

export function createCron(opts: CronOptions = {}): Mechanism {
  const clock = opts.clock ?? systemClock;
  const zone = () => opts.zone ?? localZone();
  const wokenFor = new WeakMap<Turn, number>();
  const waiting = new WeakMap<Turn, AbortController>();
  return defineMechanism({
    name: "cron",
    carry(turn, { room }) {
      const lines = schedulesOf(turn).map((schedule) => `- ${showSchedule(schedule)}`);
      if (lines.length === 0) return "";
      const rest = (count: number) => `- and ${count} more: list_crons`;
      return ["Your schedules:", ...fittingLines(lines, room(SHARE), rest)].join("\n");
    },
    outside: { at: ["intake"], notes: ["cron"], facts: ["cron.armed", "cron.missed"] },
    events: cronEvents,
    fold: cronSlice,
    tools: createCronTools({ now: clock.now, zone }),
    seams: {
      async intake(turn) {
        await arm(turn);
        const now = clock.now();
        const notes: Note[] = [];
        for (const schedule of schedulesOf(turn)) {
          if (firesAt(schedule) <= now) notes.push(...(await fire(turn, schedule, now)));
        }
        return notes;
      },
    },
    outstanding(agent) {
      const dueAt = nextFiring(agent);
      const count = schedulesOf(agent).length;
      const armed = armedAt(agent) !== null;
      if (count === 0 && !armed) return [];
      const due = dueAt === undefined ? {} : { dueAt };
      const keepsProcess = dueAt !== undefined;
      return [{ what: "schedule", count, ...due, keepsProcess, ...(armed && { hosts: "woken turns" as const }) }];
    },
    wants: (agent) => (nextFiring(agent) ?? Number.POSITIVE_INFINITY) <= clock.now(),
    async wake(turn, outer) {
      waiting.get(turn)?.abort(); // what woke the agent meanwhile was something else
      const own = new AbortController();
      waiting.set(turn, own);
      const signal = AbortSignal.any([outer, own.signal]);
      await arm(turn).catch(() => undefined); // whoever lost the lease hears it at the next append
      while (!signal.aborted) {
        const at = nextFiring(turn);
        if (at === undefined || at > clock.now()) await untilDueOrChanged(turn, at, { clock, signal });
        else {
          if (wokenFor.get(turn) === at) await clock.sleep(RETRY_MS, signal);
          wokenFor.set(turn, at);
          return;
        }
      }
    },
    end: arm,
  });
}

/**
 * The store's wake follows what stands, for hosts that do not hold this agent. Contract: nothing when it does already. A firing that is
 * being worked on stays due: whoever comes after a crash finds it.
 */
async function arm(turn: Turn): Promise<void> {
  const dueAt = nextFiring(turn) ?? null;
  if (dueAt === armedAt(turn) || (dueAt === null && turn.state.turn?.cause === "wake")) return;
  await turn.append([{ type: "cron.armed", data: { dueAt } }], { wake: wakeAt(turn, dueAt) });
}

/** What was passed over is recorded here; what is to be said, with its note. */
async function fire(turn: Turn, schedule: ScheduleState, now: number): Promise<Note[]> {
  const { scheduleId, expression, zone } = schedule;
  let nextAfter: NextAfter | undefined;
  try {
    if (expression !== undefined) nextAfter = await compile(expression, zone);
  } catch (error) {
    return [unreadable(schedule, messageOf(error))];
  }
  const outcome = decideFiring(schedule, nextAfter, now);
  if (!outcome) return [];
  if (outcome.say.length > 0) return firingNotes(schedule, outcome, now);
  const { last: due, skipped, next } = outcome;
  await turn.append([{ id: firingId(scheduleId, due), type: "cron.missed", data: { scheduleId, due, skipped, next } }]);
  turn.emit({ type: "status", text: `schedule ${scheduleId} was missed ${skipped}×: passed over, as it asks` });
  return [];
}

/** Written where the calendar knew more than here: said once, not tried for ever. */
function unreadable({ scheduleId, prompt }: ScheduleState, reason: string): Note {
  return {
    origin: "cron",
    text: `Schedule ${scheduleId} (${prompt.slice(0, 80)}) is cancelled: ${reason}`,
    events: [{ type: "cron.cancelled", data: { scheduleId, by: "holdfast" } }],
  };
}

interface Waiting {
  clock: CronClock;
  signal: AbortSignal;
}

/** Contract: resolves when `at` has come by the wall clock, another time is next (set or cancelled by any process), or on abort. */
async function untilDueOrChanged(turn: Turn, at: number | undefined, { clock, signal }: Waiting): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const changed = () => nextFiring(turn) !== at;
  turn
    .until(changed, either)
    .catch(() => undefined) // the store was closed: only the clock is left
    .then(() => changed() && over.abort());
  try {
    if (at === undefined) await aborted(either);
    else {
      for (let left = at - clock.now(); left > 0 && !either.aborted; left = at - clock.now()) {
        await clock.sleep(Math.min(left, LONGEST_SLEEP_MS), either);
      }
    }
  } finally {
    over.abort();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
