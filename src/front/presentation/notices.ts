// What happens beside the calls, one line each in people's words: jobs that end, reminders, retries, teammates and their plans.

import { LEAD } from "../../loop/agent.ts";
import { compactedText } from "../../mechanisms/compaction/says.ts";
import { judgedText, outcomeText } from "../../mechanisms/goal/port.ts";
import { describeEnd } from "../../mechanisms/jobs/bash.ts";
import { endText } from "../../mechanisms/person-commands/index.ts";
import { counted } from "../../text/counted.ts";
import type { FactBlock } from "./blocks.ts";
import { duration } from "./format.ts";
import type { ShownFact } from "./presenter.ts";
import { oneLine } from "./printable.ts";

/** What later facts name only by id. */
export interface RememberedNotices {
  /** The command of each job. */
  jobs: Map<string, string>;
  schedules: Map<string, { prompt: string; when: string; zone: string; expression?: string }>;
  subtasks: Map<string, { about: string; at: number; calls: () => number }>;
  /** What can be done is said as it is done there. */
  inTerminal: boolean;
}

export function noticeOf(fact: ShownFact, { jobs, schedules, subtasks, inTerminal }: RememberedNotices): FactBlock[] {
  const { actor: agent, type, data } = fact;
  const notice: Noticed = (text, tone = "plain") => [{ kind: "notice", agent, tone, text: oneLine(text, 300) }];
  switch (type) {
    case "input.blocked":
      return notice(`not taken: ${data.reason}`, "bad");
    case "job.started":
      jobs.set(data.jobId, data.command);
      return data.background ? [] : notice(`it takes long: it goes on in the background as ${data.jobId}`);
    case "job.ended": {
      const { jobId, status, exitCode, durationMs } = data;
      const problem = describeEnd({ status, durationMs, ...(exitCode !== undefined && { exitCode }) });
      const what = jobs.get(jobId) ?? jobId;
      const took = durationMs > 0 ? ` · ${duration(durationMs)}` : "";
      if (problem === undefined) return notice(`background job finished: ${what}${took}`);
      return notice(`background job did not finish well (${problem}): ${what}${took}`, "bad");
    }
    case "command.ran":
      return [
        { kind: "notice", agent: LEAD, tone: "plain", text: oneLine(`you ran ${data.command}: ${endText(data)}`, 300) },
      ];
    case "cron.created":
      schedules.set(data.scheduleId, data);
      return notice(
        `scheduled for ${whenOf(data.next, { zone: data.zone, from: fact.at })}${data.expression ? ` (${data.when})` : ""}: ${data.prompt}`,
      );
    case "cron.fired": {
      const known = schedules.get(data.scheduleId);
      const what = known?.prompt ?? data.scheduleId;
      return notice(`${known?.expression ? `scheduled (${known.when})` : "reminder"}: ${what}`);
    }
    case "cron.cancelled":
      return notice(`schedule cancelled: ${schedules.get(data.scheduleId)?.prompt ?? data.scheduleId}`);
    case "subagent.reported": {
      const { about, at, calls } = subtasks.get(data.agent) ?? { about: data.agent, at: Number.NaN, calls: undefined };
      const took = Number.isNaN(at) ? "" : ` in ${duration(fact.at - at)}`;
      return notice(`background subtask ended: ${about}${calls ? ` · ${counted(calls(), "call")}${took}` : ""}`);
    }
    case "model.retried": {
      const wait = data.delayMs >= 1000 ? ` in ${Math.round(data.delayMs / 1000)} s` : "";
      return notice(`${data.message}; asking again${wait} (attempt ${data.attempt + 1})`);
    }
    case "model.switched":
      return notice(`${data.reason}; going on with ${data.to}`);
    case "model.escalated":
      return notice(`the reply reached ${data.from} tokens: asking again with ${data.to}`);
    case "context.elided":
      return notice(`the conversation no longer fits: ${counted(data.masks.length, "old tool result")} left out`);
    case "context.compacted":
      return notice(compactedText(data));
    case "context.uncompacted":
      return notice("what was left out of the model's view is in it again");
    case "goal.judged":
      // What ends it is said by its end.
      return data.verdict === "not_yet" || data.verdict === "failed" ? notice(`goal: ${judgedText(data)}`) : [];
    case "goal.ended":
      return notice(outcomeText(data.outcome, data.why), data.outcome === "met" ? "plain" : "bad");
    default:
      return teamNotice(fact, { notice, inTerminal });
  }
}

type Noticed = (text: string, tone?: "plain" | "bad") => FactBlock[];

function teamNotice(
  { actor: agent, type, data }: ShownFact,
  { notice, inTerminal }: { notice: Noticed; inTerminal: boolean },
): FactBlock[] {
  switch (type) {
    case "plan.submitted":
      if (inTerminal)
        return notice(`submitted a plan (${data.requestId}): read it, and approve or reject it, in /team`);
      return notice(
        `submitted a plan: holdfast team approve ${data.requestId} | holdfast team reject ${data.requestId} "why"`,
      );
    case "plan.reviewed": {
      if (agent !== "user") return []; // the call of whoever reviewed it says so
      const why = data.feedback === "" ? "" : `: ${data.feedback}`;
      return notice(`plan ${data.requestId} ${data.approve ? "approved" : "rejected"}${why}`);
    }
    case "team.assigned":
      return notice(`works on ${data.taskId}`);
    case "team.unplaced":
      return notice(`cannot take ${data.taskId}: ${data.reason}`, "bad");
    case "team.over":
      return notice("Team: nobody is left.");
    case "shutdown.answered":
      return notice(
        `${data.approve ? "has shut down" : "does not shut down"}${data.reason === "" ? "" : `: ${data.reason}`}`,
      );
    default:
      return [];
  }
}

/** The time on the wall, once: the date only where it is another one. */
function whenOf(at: number, { zone, from }: { zone: string; from: number }): string {
  const day = (ms: number) => new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(ms);
  const time = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, timeStyle: "medium" }).format(at);
  return day(at) === day(from) ? time : `${day(at)} ${time}`;
}
