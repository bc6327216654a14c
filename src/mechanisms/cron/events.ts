// The facts of schedules and their slice: what is set, for whom, when it is due next. The fold needs no calendar.

import * as z from "../../ledger/event-schema.ts";
import type { EventDefs, Fact } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const MISSED_POLICIES = ["once", "skip", "all"] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

export interface Schedule {
  scheduleId: string;
  /** What is said when it fires: the words of whoever set it. */
  prompt: string;
  /** As it was asked for. */
  when: string;
  /** Absent: once, at `next`. */
  expression?: string;
  zone: string;
  missed: MissedPolicy;
  /** At most this much later than due; how much follows from the id. */
  jitterMs: number;
  /** No due time after it. */
  expiresAt?: number;
  /** Who set it: an agent through its tool, or a person. */
  by: string;
  /** By the clock that schedules live by. */
  createdAt: number;
}

/** A schedule as it stands. */
export interface ScheduleState extends Schedule {
  /** The next due time, before jitter. */
  next: number;
  fired: number;
  /** Due times that were passed over. */
  skipped: number;
  lastDue?: number;
}

interface OfAgent {
  schedules: Record<string, ScheduleState>;
  /** When the store's wake was last set to; null: to nothing. */
  armed: number | null;
}

/** By agent. */
export type CronState = Record<string, OfAgent>;

export const cronEvents = {
  "cron.created": {
    v: 1,
    schema: () =>
      z.object({
        scheduleId: z.string(),
        prompt: z.string(),
        when: z.string(),
        expression: z.string().optional(),
        zone: z.string(),
        missed: z.enum(MISSED_POLICIES),
        jitterMs: z.number(),
        expiresAt: z.number().optional(),
        by: z.string(),
        createdAt: z.number(),
        next: z.number(),
        /** The wake that went with it. */
        armed: z.number().nullable(),
      }),
  },
  /** In one append with the note that delivers it. Its id is made of the schedule and the due time. */
  "cron.fired": {
    v: 1,
    schema: () =>
      z.object({ scheduleId: z.string(), due: z.number(), skipped: z.number(), next: z.number().nullable() }),
  },
  /** Passed over by policy: nothing is said. */
  "cron.missed": {
    v: 1,
    schema: () =>
      z.object({ scheduleId: z.string(), due: z.number(), skipped: z.number(), next: z.number().nullable() }),
  },
  "cron.cancelled": {
    v: 1,
    schema: () => z.object({ scheduleId: z.string(), by: z.string(), armed: z.number().nullable().optional() }),
  },
  /** The store's wake follows the slice: a host without this agent knows when to take it. */
  "cron.armed": { v: 1, schema: () => z.object({ dueAt: z.number().nullable() }) },
} satisfies EventDefs;

export const cronSlice: MechanismSlice<CronState> = {
  version: 1,
  types: Object.keys(cronEvents),
  timelines: {
    // A promise to a person outlives the conversation in which it was made; the original keeps it, a copy does not fire it again.
    restored: (state) => state,
    copied: () => ({}),
  },
  initial: () => ({}),
  apply(state, event) {
    const agent = ownOr(state, event.actor, () => ({ schedules: {}, armed: null }));
    applyTo(agent, knownFact<typeof cronEvents>(event));
    return state;
  },
};

function applyTo(agent: OfAgent, { type, data }: Fact<typeof cronEvents>): void {
  switch (type) {
    case "cron.armed":
      agent.armed = data.dueAt;
      break;
    case "cron.created": {
      const { armed, ...schedule } = data;
      agent.armed = armed;
      agent.schedules[data.scheduleId] = { ...schedule, fired: 0, skipped: 0 };
      break;
    }
    case "cron.cancelled":
      if (data.armed !== undefined) agent.armed = data.armed;
      delete agent.schedules[data.scheduleId];
      break;
    default: {
      const standing = own(agent.schedules, data.scheduleId);
      if (!standing) break;
      standing.skipped += data.skipped;
      standing.lastDue = data.due;
      if (type === "cron.fired") standing.fired++;
      if (data.next === null) delete agent.schedules[data.scheduleId];
      else standing.next = data.next;
    }
  }
}
