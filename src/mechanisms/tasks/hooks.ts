// The user's hooks TaskCreated and TaskCompleted: asked before the call, and a block refuses it.
import type { GateCall, Verdict } from "../../loop/seams.ts";
import { fireHook } from "../hooks/port.ts";
import type { NewTask, OpenTaskBoard, Task } from "./port.ts";

interface Input extends Partial<NewTask> {
  tasks?: NewTask[];
  task_id?: string;
  status?: Task["status"];
}

export const ALLOWED: Verdict = { decision: "allow" };

export async function taskHooks({ tool, input, turn }: GateCall, open: OpenTaskBoard): Promise<Verdict> {
  const given = input as Input;
  const ask = async (event: "TaskCreated" | "TaskCompleted", task: Partial<Task>): Promise<Verdict> => {
    const { id, subject, description } = task;
    const payload = {
      task_id: id ?? null,
      task_subject: subject,
      task_description: description ?? "",
      teammate_name: turn.agent,
    };
    const { blocked } = await fireHook(turn, event, payload);
    return blocked === undefined
      ? ALLOWED
      : { decision: "deny", code: "hook", reason: `blocked by a ${event} hook: ${blocked}` };
  };
  if (tool.name === "create_task") {
    for (const task of given.tasks ?? [given]) {
      const verdict = await ask("TaskCreated", { subject: task.subject, description: task.description });
      if (verdict.decision === "deny") return verdict;
    }
    return ALLOWED;
  }
  const completes = tool.name === "complete_task" || (tool.name === "update_task" && given.status === "completed");
  if (!completes || given.task_id === undefined) return ALLOWED;
  const task = await (await open()).get(given.task_id).catch(() => undefined);
  return task ? ask("TaskCompleted", task) : ALLOWED; // the tool says that there is none
}
