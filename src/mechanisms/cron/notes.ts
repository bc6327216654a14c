// What the model is told when a schedule fires: the words of whoever set it, marked as such, and how late they come.

import { withoutMarks } from "../../loop/marks.ts";
import type { Note } from "../../loop/seams.ts";
import { counted } from "../../text/counted.ts";
import type { ScheduleState } from "./events.ts";
import { type FiringOutcome, GRACE_MS, jitterOf } from "./firing.ts";
import { showTime } from "./zone.ts";

/** Contract: one note for each due time that is said; its `cron.fired` has an id made of schedule and due time, so it exists once. */
export function firingNotes(schedule: ScheduleState, outcome: FiringOutcome, now: number): Note[] {
  const { scheduleId } = schedule;
  return outcome.say.map((due, i) => {
    const skipped = i === 0 ? outcome.skipped : 0;
    const next = outcome.say[i + 1] ?? outcome.next;
    return {
      origin: "cron",
      text: firingText(schedule, { due, skipped, now, isLast: next === null }),
      events: [{ id: firingId(scheduleId, due), type: "cron.fired", data: { scheduleId, due, skipped, next } }],
    };
  });
}

export const firingId = (scheduleId: string, due: number): string => `cron-${scheduleId}-${due}`;

interface Firing {
  due: number;
  skipped: number;
  now: number;
  isLast: boolean;
}

function firingText(schedule: ScheduleState, { due, skipped, now, isLast }: Firing): string {
  const { scheduleId, zone, prompt, by } = schedule;
  const late = now - due - jitterOf(schedule);
  const facts = [
    `schedule ${scheduleId}, set by ${by} on ${showTime(schedule.createdAt, zone)}`,
    `due ${showTime(due, zone)}`,
    ...(late > GRACE_MS ? [`${duration(late)} late: nothing ran then, or the clock was changed`] : []),
    ...(skipped > 0 ? [`${counted(skipped, "earlier due time was", "earlier due times were")} passed over`] : []),
    ...(isLast && schedule.expression !== undefined ? ["it has ended: schedule it again if it is still wanted"] : []),
  ];
  return `[Scheduled] ${withoutMarks(prompt)}\n(${facts.join("; ")})`;
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}
