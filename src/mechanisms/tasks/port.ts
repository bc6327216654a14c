// The port between the task tools and the board: what a task is, who acts on it, what can be asked of the board.
import { durableCall } from "../../loop/durable-call.ts";
import type { ToolRun } from "../../loop/seams.ts";

export const TASK_STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;
export const PRIORITIES = ["urgent", "high", "normal", "low"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export type Priority = (typeof PRIORITIES)[number];

export interface TaskHistory {
  at: number;
  by: string;
  what: string;
  note?: string;
}

/** A call of its owner, made while the task was theirs, of which nobody knows what came: the machine was lost, or the lease. */
export interface UnknownOutcome {
  /** As the owner's conversation names it. */
  call: string;
  tool: string;
}

export interface Task {
  id: string;
  subject: string;
  description: string;
  status: TaskStatus;
  /** `CONTEXT/AGENT`, or `user`. On a pending task: kept for that owner. */
  owner: string | null;
  blockedBy: string[];
  worktree: string | null;
  priority: Priority;
  labels: string[];
  /** The latest; the ledger has all. */
  history: TaskHistory[];
  createdAt: number;
  updatedAt: number;
  /** Since when its owner was seen to have no host. */
  unhostedAt?: number;
  /** It was completed after these: look before you rely on it. */
  unknown?: UnknownOutcome[];
}

/** Who acts. Without a context: a person (`user`) or the house itself (`holdfast`). */
export interface By {
  agent: string;
  context?: string;
  /** Names one tool call: done twice, it changes nothing twice. */
  call?: string;
}

export interface NewTask {
  /** By which other tasks of the same batch name it. */
  alias?: string;
  subject: string;
  description?: string;
  /** Ids, or aliases of the same batch. */
  blockedBy?: string[];
  priority?: Priority;
  labels?: string[];
}

export interface TaskChanges {
  subject?: string;
  description?: string;
  status?: TaskStatus;
  /** null: nobody's. */
  owner?: string | null;
  addBlockedBy?: string[];
  removeBlockedBy?: string[];
  worktree?: string | null;
  priority?: Priority;
  labels?: string[];
  note?: string;
  /** With status completed. */
  unknown?: readonly UnknownOutcome[];
}

export interface TaskFilter {
  status?: TaskStatus;
  owner?: string;
  label?: string;
  /** Pending, nobody's, and nothing blocks it. */
  claimable?: boolean;
}

export interface Changed {
  task: Task;
  /** Tasks that nothing blocks any more because of this. */
  unblocked: Task[];
  /** Tasks that still wait for one that will not come (cancelled). */
  stranded: Task[];
}

/** What the tools need of the board. Contract: a refusal throws `refused`, `invalid` or `not_found`, and nothing has changed. */
/** What came of the worktree of a task whose machine is gone. */
export interface Remaking {
  event: { type: "worktree.created"; data: Record<string, unknown> };
  /** For the agent: what is lost, and where it begins. */
  says: string;
}

/** Which tasks one takes up by itself. */
export interface ClaimChoice {
  /** Asked of those that nobody is named for. */
  fits?: (task: Task) => boolean;
  /** Not now, whoever is named. */
  leaves?: (task: Task) => boolean;
}

export interface TaskBoard {
  create(tasks: NewTask[], by: By): Promise<Task[]>;
  update(id: string, changes: TaskChanges, by: By): Promise<Changed>;
  claim(id: string, by: By): Promise<Task>;
  complete(id: string, by: By, how?: Pick<TaskChanges, "note" | "unknown">): Promise<Changed>;
  get(id: string): Promise<Task>;
  /** Running ones first, then claimable by priority and age, then blocked ones, then what is done, newest first. */
  list(filter?: TaskFilter): Promise<Task[]>;
  /** What keeps it from being claimed; read from the state of the last call. */
  openBlockers(task: Task): Task[];
}

export type OpenTaskBoard = () => Promise<TaskBoard>;

/** `task_7`, also from `7` and `#7`. */
export function taskId(given: string): string {
  const text = given.trim();
  return /^#?\d{1,12}$/.test(text) ? `task_${text.replace("#", "")}` : text;
}

export const ownerOf = (by: By): string => (by.context === undefined ? by.agent : `${by.context}/${by.agent}`);

/** An agent names its own team plainly, others in full. */
export function ownerNamed(name: string, context: string): string {
  return name === "user" || name.includes("/") ? name : `${context}/${name}`;
}

/** The way back: `alice` for one of this context. */
export function shownOwner(owner: string, context?: string): string {
  return context !== undefined && owner.startsWith(`${context}/`) ? owner.slice(context.length + 1) : owner;
}

/** Who acts in this call. Contract: that of `durableCall`. */
export const actorOf = async (run: ToolRun): Promise<By> => ({
  context: run.turn.context,
  agent: run.turn.agent,
  call: await durableCall(run),
});
