// The tools schedule_cron, list_crons and cancel_cron.
import * as z from "zod";
import { defineTool, type Tool, type ToolRun } from "../../loop/seams.ts";
import { MISSED_POLICIES } from "./events.ts";
import { MOST_JITTER_S, MOST_PROMPT_CHARS, type ScheduleRequest, showSchedule } from "./plan.ts";
import { cancelling, schedulesOf, scheduling } from "./schedules.ts";
import { onlyLocal, showTime } from "./zone.ts";

export interface ToolOptions {
  now: () => number;
  zone: () => string;
}

export const createCronTools = (opts: ToolOptions): Tool[] => [scheduleCron(opts), listCrons(opts), cancelCron()];

function scheduleCron({ now, zone }: ToolOptions): Tool<ScheduleRequest> {
  return defineTool<ScheduleRequest>({
    name: "schedule_cron",
    description:
      "Prompt yourself later, once or repeatedly; it wakes you. The answer says what time was understood: tell the user.",
    schema: () =>
      z.strictObject({
        when: z
          .string()
          .describe('The user\'s own words ("in 3 minutes", "every weekday at 9", 毎日9時), an ISO time, or cron'),
        prompt: z.string().max(MOST_PROMPT_CHARS),
        time_zone: z.string().optional().describe("IANA name"),
        missed: z.enum(MISSED_POLICIES).optional().describe("when due while nothing ran; default once"),
        jitter_seconds: z.int().min(0).max(MOST_JITTER_S).optional(),
        until: z.string().optional().describe("default 30 days"),
      }),
    effect: "internal",
    async execute(run) {
      const { turn, input } = run;
      const by = `agent ${turn.agent}`;
      const { echo, events, wake } = await scheduling(turn, input, { now: askedAt(run, now), zone: zone(), by });
      return { content: echo, events, wake };
    },
  });
}

/** "In 3 minutes" counts from when it was asked, also when another process takes the call up later. */
const askedAt = (run: ToolRun, now: () => number): number => Math.min(run.askedAt ?? now(), now());

function listCrons({ now, zone }: ToolOptions): Tool<Record<string, never>> {
  return defineTool({
    name: "list_crons",
    description: "List your schedules.",
    schema: () => z.strictObject({}),
    effect: "internal",
    async execute({ turn }) {
      const lines = schedulesOf(turn).map(showSchedule);
      const content = [`Now: ${showTime(now(), zone())}`, ...(lines.length > 0 ? lines : ["(no schedules)"])].join(
        "\n",
      );
      return { content, display: onlyLocal(content) };
    },
  });
}

function cancelCron(): Tool<{ id: string }> {
  return defineTool<{ id: string }>({
    name: "cancel_cron",
    description: "Cancel a schedule.",
    schema: () => z.strictObject({ id: z.string() }),
    effect: "internal",
    async execute({ turn, input }) {
      const cancelled = cancelling(turn, input.id, `agent ${turn.agent}`);
      if (!cancelled) return { content: `no schedule ${input.id}; see list_crons`, isError: true };
      const { events, wake, was } = cancelled;
      const content = `Cancelled ${showSchedule(was)}`;
      return { content, display: onlyLocal(content), events, wake };
    },
  });
}
