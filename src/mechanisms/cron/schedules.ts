// An agent's schedules as they stand, and the facts that set and cancel one: for the tools and for the command line alike.
import type { AppendOptions, EventInput } from "../../ledger/store.ts";
import type { Turn } from "../../loop/seams.ts";
import type { CronState, ScheduleState } from "./events.ts";
import { firesAt } from "./firing.ts";
import { planSchedule, type ScheduleRequest } from "./plan.ts";

export type OfAgent = Pick<Turn, "context" | "agent" | "slice">;

/** What is to be appended, in one append. */
export interface CronFacts {
  events: Omit<EventInput, "actor">[];
  wake: NonNullable<AppendOptions["wake"]>;
}

/** By the next due time. */
export function schedulesOf({ agent, slice }: Pick<OfAgent, "agent" | "slice">): ScheduleState[] {
  const all = Object.values(slice<CronState>("cron")[agent]?.schedules ?? {});
  return all.sort((a, b) => firesAt(a) - firesAt(b));
}

/** When the agent's next schedule fires. */
export const nextFiring = (of: Pick<OfAgent, "agent" | "slice">): number | undefined => {
  const [first] = schedulesOf(of);
  return first && firesAt(first);
};

export const armedAt = ({ agent, slice }: Pick<OfAgent, "agent" | "slice">): number | null =>
  slice<CronState>("cron")[agent]?.armed ?? null;

/** The store's wake of an agent's schedules. Its own row: other mechanisms wake the same agent for their own reasons. */
export const wakeAt = (
  { context, agent }: Pick<OfAgent, "context" | "agent">,
  dueAt: number | null,
): CronFacts["wake"] => [{ context, agent, by: "cron", dueAt }];

/** Contract: throws `invalid` or `limit`; `echo` says what was understood. */
export async function scheduling(
  of: OfAgent,
  asked: ScheduleRequest,
  opts: { now: number; zone: string; by: string },
): Promise<CronFacts & { scheduleId: string; echo: string }> {
  const { schedule, echo } = await planSchedule(asked, { ...opts, standing: schedulesOf(of) });
  const fires = firesAt(schedule);
  const armed = Math.min(fires, nextFiring(of) ?? fires);
  return {
    scheduleId: schedule.scheduleId,
    echo,
    events: [{ type: "cron.created", data: { ...schedule, armed } }],
    wake: wakeAt(of, armed),
  };
}

/** All that the agent has, by itself. */
export function cancellingAll(of: OfAgent): CronFacts {
  const events = schedulesOf(of).map(({ scheduleId }) => ({
    type: "cron.cancelled",
    data: { scheduleId, by: of.agent, armed: null },
  }));
  return { events, wake: events.length === 0 ? [] : wakeAt(of, null) };
}

/** Contract: undefined when the agent has no such schedule. */
export function cancelling(
  of: OfAgent,
  scheduleId: string,
  by: string,
): (CronFacts & { was: ScheduleState }) | undefined {
  const all = schedulesOf(of);
  const was = all.find((s) => s.scheduleId === scheduleId);
  if (!was) return undefined;
  const rest = all.find((s) => s !== was);
  const armed = rest ? firesAt(rest) : null;
  return { was, events: [{ type: "cron.cancelled", data: { scheduleId, by, armed } }], wake: wakeAt(of, armed) };
}
