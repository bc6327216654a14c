// The task lines of stream-json: background jobs and subagents, from their start to the notification of their end.
import { existsSync } from "node:fs";
import { callIdOf } from "../../claude-code/call-shape.ts";
import { LEAD } from "../../loop/agent.ts";
import type { AgentView } from "../../loop/seams.ts";
import { describeEnd } from "../../mechanisms/jobs/bash.ts";
import type { JobsState } from "../../mechanisms/jobs/events.ts";
import { outputFile } from "../../mechanisms/jobs/job-dir.ts";
import type { JobEnd } from "../../mechanisms/jobs/port.ts";
import { oneLine } from "../presentation/printable.ts";
import type { SeenAgents } from "./agents.ts";
import type { Told } from "./stream-json.ts";

/** Both as the published types name them: of a change, and of the notification. */
const STATUS: Record<JobEnd["status"], [patch: string, notified: string]> = {
  completed: ["completed", "completed"],
  failed: ["failed", "failed"],
  timeout: ["failed", "failed"],
  killed: ["killed", "stopped"],
  unknown: ["killed", "stopped"], // it runs no more, and nobody knows what came of it
};

interface SeenJob {
  toolUseId: string;
  command: string;
  dir: string;
}

export interface TaskLines {
  begin(lead: AgentView): void;
  /** The lines of one event. */
  of(event: Told): object[];
}

export function createTaskLines(agents: SeenAgents): TaskLines {
  const jobs = new Map<string, SeenJob>();
  return {
    begin(view) {
      for (const [agent, running] of Object.entries(view.slice<JobsState>("jobs")))
        for (const { jobId, callId, command, dir } of Object.values(running))
          jobs.set(jobId, { toolUseId: callIdOf(agent, callId), command, dir });
    },
    of(event) {
      const { actor, at, type, data } = event;
      switch (type) {
        case "job.started": {
          const toolUseId = callIdOf(actor, data.callId);
          jobs.set(data.jobId, { toolUseId, command: data.command, dir: data.dir });
          return [
            {
              type: "system",
              subtype: "task_started",
              task_id: data.jobId,
              tool_use_id: toolUseId,
              description: oneLine(data.command),
              task_type: "local_bash",
              is_backgrounded: true, // recorded only then
              ...parentOf(actor, agents),
            },
          ];
        }
        case "job.ended": {
          const job = jobs.get(data.jobId);
          jobs.delete(data.jobId);
          const [patch, status] = STATUS[data.status];
          const file = job ? outputFile(job.dir) : "";
          return [
            updated(data.jobId, { status: patch, end_time: at }),
            {
              type: "system",
              subtype: "task_notification",
              task_id: data.jobId,
              ...(job && { tool_use_id: job.toolUseId }),
              status,
              summary: `${job ? oneLine(job.command) : data.jobId}: ${describeEnd(data) ?? "completed"}`,
              output_file: existsSync(file) ? file : "",
            },
          ];
        }
        default:
          return subagentLines(event, agents);
      }
    },
  };
}

function subagentLines({ actor, at, type, data }: Told, agents: SeenAgents): object[] {
  switch (type) {
    case "subagent.started":
      return [
        {
          type: "system",
          subtype: "task_started",
          task_id: actor,
          tool_use_id: callIdOf(data.parent, data.callId),
          description: data.description,
          subagent_type: data.type,
          task_type: "local_agent",
          is_backgrounded: data.task !== undefined,
          spawn_depth: data.depth,
          ...(data.task && { prompt: data.task.prompt }),
          ...parentOf(data.parent, agents),
        },
      ];
    case "subagent.ended": {
      const { subagent } = agents.of(data.agent);
      const status = data.ok ? "completed" : "failed";
      const change = updated(data.agent, { status, end_time: at });
      if (!subagent?.task) return [change];
      return [
        change,
        {
          type: "system",
          subtype: "task_notification",
          task_id: data.agent,
          tool_use_id: callIdOf(subagent.parent, subagent.callId),
          status,
          summary: `${subagent.description}: ${status}`,
          output_file: "", // what it said stands in its own lines
        },
      ];
    }
    default:
      return [];
  }
}

const updated = (id: string, patch: object): object => ({
  type: "system",
  subtype: "task_updated",
  task_id: id,
  patch,
});

/** Only a subagent is itself a task. */
const parentOf = (agent: string, agents: SeenAgents): object =>
  agent !== LEAD && agents.of(agent).subagent ? { parent_task_id: agent } : {};
