// What an idle teammate takes up by itself: its unfinished task, or the best one on the board that fits it.

import { messageOf } from "../../ledger/error.ts";
import type { Note, Turn } from "../../loop/seams.ts";
import type { By, ClaimChoice, Task } from "../tasks/port.ts";
import type { TeamFacts } from "./decide.ts";
import { activeMates, TEAM_SLICE, type Teammate, type TeamState } from "./state.ts";
import { teamState } from "./talk.ts";
import { claimed, unfinished } from "./texts.ts";

/** How often a teammate is told of one task: when it claims it, and once more if it goes idle with it unfinished. */
const MOST_ASSIGNED = 2;

/** What a team needs of the board. */
export interface TeamBoard {
  claimNext(by: By, opts?: ClaimChoice): Promise<Task | undefined>;
  release(id: string, by: By, note?: string): Promise<Task>;
  releaseAll(owner: string, by: By, note: string): Promise<Task[]>;
  openBlockers(task: Task): Task[];
  list(filter?: { owner?: string; status?: Task["status"]; claimable?: boolean }): Promise<Task[]>;
}

export interface Autonomy {
  board: () => Promise<TeamBoard>;
  /** The facts by which an agent moves to the task's worktree; none where it is there already. Contract: throws when the worktree is gone. */
  place?: (task: Task, turn: Turn) => Promise<{ events: TeamFacts; path?: string; says?: string }>;
  /** Whether its worktree lies on another machine that lives: it is left to the hosts there. Default: none does. */
  isElsewhere?: (task: Task) => Promise<boolean>;
}

const nowhereElse = async (): Promise<boolean> => false;

/** Contract: true when `takeTask` would give the idle teammate something; "later" when it would if a machine that lives were gone. */
export async function hasTask(
  mate: Teammate,
  agent: Pick<Turn, "context" | "slice">,
  { board, isElsewhere = nowhereElse }: Autonomy,
): Promise<boolean | "later"> {
  const owner = `${agent.context}/${mate.name}`;
  const opened = await board();
  const [running] = await opened.list({ owner, status: "in_progress" });
  if (running) return wantsMore(mate, running) && ((await isElsewhere(running)) ? "later" : true);
  const fits = fitting(mate, teamState(agent));
  const pending = await opened.list({ status: "pending" });
  const free = pending.filter((task) => opened.openBlockers(task).length === 0);
  // A task with its name on it is always its own; one without an owner must fit its role.
  const own = free.filter((task) => task.owner === owner || (task.owner === null && fits(task)));
  for (const task of own) if (!(await isElsewhere(task))) return true;
  return own.length > 0 && "later";
}

/** Of the tasks that could be taken now: those that are left to another machine. */
async function leftToOthers(board: TeamBoard, isElsewhere: NonNullable<Autonomy["isElsewhere"]>): Promise<Set<string>> {
  const left = new Set<string>();
  for (const task of await board.list({ status: "pending" })) if (await isElsewhere(task)) left.add(task.id);
  return left;
}

/** Claims a task for the idle teammate. If a crash comes between the claim on the board and the note here, the next call finds the claim and tells of it. */
export async function takeTask(mate: Teammate, turn: Turn, autonomy: Autonomy): Promise<Note[]> {
  const { board, place, isElsewhere = nowhereElse } = autonomy;
  const opened = await board();
  const by: By = { context: turn.context, agent: turn.agent };
  const [running] = await opened.list({ owner: `${turn.context}/${mate.name}`, status: "in_progress" });
  if (running && (!wantsMore(mate, running) || (await isElsewhere(running)))) return [];
  const left = await leftToOthers(opened, isElsewhere);
  const choice = { fits: fitting(mate, teamState(turn)), leaves: (one: Task) => left.has(one.id) };
  const task = running ?? (await opened.claimNext(by, choice));
  if (!task) return [];
  const first = !running || (mate.assigned[task.id] ?? 0) === 0;
  try {
    const { events = [], path, says } = (await place?.(task, turn)) ?? {};
    const assigned = { type: "team.assigned", data: { taskId: task.id } };
    const text = first ? claimed({ task, ...(path !== undefined && { place: path }) }) : unfinished(task);
    const whole = says === undefined ? text : `${text}\n${says}`;
    return [{ origin: TEAM_SLICE, kind: "task", text: whole, events: [assigned, ...events] }];
  } catch (error) {
    await opened.release(task.id, by, messageOf(error));
    if (await isElsewhere(task)) return []; // since just now
    await turn.append([{ type: "team.unplaced", data: { taskId: task.id, reason: messageOf(error) } }]);
    return takeTask(teamState(turn).mates[mate.name]!, turn, autonomy);
  }
}

const wantsMore = (mate: Teammate, task: Task): boolean => (mate.assigned[task.id] ?? 0) < MOST_ASSIGNED;

/**
 * A label that names a teammate, or is a word of its role, keeps a task for such teammates; other labels say nothing of who does it.
 */
function fitting(mate: Teammate, state: TeamState): (task: Task) => boolean {
  const others = activeMates(state).map(wordsOf);
  const own = wordsOf(mate);
  return (task) => {
    if (!wantsMore(mate, task)) return false;
    const labels = task.labels.map((label) => label.toLowerCase());
    const meant = labels.some((label) => others.some((words) => words.has(label)));
    return !meant || labels.some((label) => own.has(label));
  };
}

const wordsOf = ({ name, role }: Teammate): Set<string> =>
  new Set([
    name.toLowerCase(),
    role.toLowerCase(),
    ...role
      .toLowerCase()
      .split(/[^\p{L}\p{N}_-]+/u)
      .filter((word) => word !== ""),
  ]);
