// How the runtime words what it says to agents of a team.

export const planWanted = (about: string): string =>
  `Submit a plan with submit_plan before you claim, run or change anything.${about === "" ? "" : `\nAbout: ${about}`}`;

export const planAsked = (name: string, requestId: string, plan: string): string =>
  `${name} asks for approval of a plan, request ${requestId}:\n${plan}\nAnswer with review_plan, or the user does with \`holdfast team approve|reject ${requestId}\`.`;

interface Reviewed {
  requestId: string;
  by: string;
  approve: boolean;
  feedback: string;
}

export const planReviewed = ({ requestId, by, approve, feedback }: Reviewed): string =>
  approve
    ? `Your plan ${requestId} was approved by ${by}. Go ahead.${feedback === "" ? "" : `\n${feedback}`}`
    : `Your plan ${requestId} was rejected by ${by}: ${feedback === "" ? "no reason given" : feedback}\nThe gate stays closed: submit a new plan.`;

export const shutdownAsked = (by: string, requestId: string, reason: string): string =>
  `${by} asks you to shut down, request ${requestId}${reason === "" ? "" : `: ${reason}`}\nAnswer with answer_shutdown.`;

interface Answered {
  requestId: string;
  name: string;
  approve: boolean;
  reason: string;
}

export const shutdownAnswered = ({ requestId, name, approve, reason }: Answered): string =>
  approve
    ? `${name} has shut down (request ${requestId})${reason === "" ? "" : `: ${reason}`}`
    : `${name} refuses to shut down (request ${requestId})${reason === "" ? "" : `: ${reason}`}`;

export const returned = (name: string, text: string): string =>
  `${name} has shut down before it saw your message:\n${text}`;

export const unplaced = (name: string, taskId: string, reason: string): string =>
  `${name} could not take ${taskId}, and left it on the board: ${reason}`;

interface Claimed {
  task: { id: string; subject: string; description: string; worktree: string | null };
  /** Where it works from here on, when that changes. */
  place?: string;
}

export function claimed({ task, place }: Claimed): string {
  return [
    `You have claimed ${task.id}: ${task.subject}`,
    ...(task.description === "" ? [] : [task.description]),
    ...(place === undefined ? [] : [`You work in ${place} (worktree ${task.worktree}) now.`]),
    `When it is done, call complete_task with task_id ${task.id}; if you cannot do it, release it with update_task and say why to lead.`,
  ].join("\n");
}

export const unfinished = (task: { id: string; subject: string }): string =>
  `You still hold ${task.id}: ${task.subject}\nGo on with it. When it is done, call complete_task; if you cannot do it, release it with update_task and say why to lead.`;
