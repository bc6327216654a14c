// The facts of background jobs and their slice: which ones run, for whom.

import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export interface RunningJob {
  jobId: string;
  callId: string;
  command: string;
  dir: string;
  boot: string;
  startedAt: number;
}

/** By agent, then by id: jobs in the background whose end was not yet reported. */
export type JobsState = Record<string, Record<string, RunningJob>>;

const JOB_END_STATUSES = ["completed", "failed", "killed", "timeout", "unknown"] as const;

export const jobEvents = {
  "job.started": {
    v: 1,
    schema: () =>
      z.object({
        jobId: z.string(),
        callId: z.string(),
        command: z.string(),
        dir: z.string(),
        boot: z.string(),
        /** Asked for; otherwise it outlived its wait. */
        background: z.boolean(),
      }),
  },
  "job.backgrounded": { v: 1, schema: () => z.object({ jobId: z.string() }) },
  "job.ended": {
    v: 1,
    schema: () =>
      z.object({
        jobId: z.string(),
        status: z.enum(JOB_END_STATUSES),
        because: z.enum(["remade"]).optional(),
        lostLease: z.literal(true).optional(),
        lackedNetwork: z.literal(true).optional(),
        exitCode: z.number().optional(),
        durationMs: z.number(),
        tail: z.string(),
      }),
  },
} satisfies EventDefs;

export const jobsSlice: MechanismSlice<JobsState> = {
  version: 1,
  types: ["job.started", "job.ended"],
  timelines: {
    // They run on, and whoever started them is told of their end; in a copy they are somebody else's.
    restored: (state) => state,
    copied: () => ({}),
  },
  initial: () => ({}),
  apply(state, event) {
    const fact = knownFact<typeof jobEvents>(event);
    if (fact.type === "job.started") {
      const { jobId, callId, command, dir, boot } = fact.data;
      ownOr(state, fact.actor, () => ({}))[jobId] = { jobId, callId, command, dir, boot, startedAt: fact.at };
    } else if (fact.type === "job.ended") {
      delete own(state, fact.actor)?.[fact.data.jobId];
    }
    return state;
  },
};
