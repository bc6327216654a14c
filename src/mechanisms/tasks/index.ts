// The mechanism `tasks`: the six tools on the project's board, letting go of tasks whose owner is gone, and where their owners work.

import type { Store } from "../../ledger/store.ts";
import type { Carrying } from "../../loop/carry.ts";
import type { Outside } from "../../loop/outside.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import type { Board, BoardOptions } from "./board.ts";
import { createTaskClaimTool } from "./claim-task.ts";
import { createTaskCompleteTool } from "./complete-task.ts";
import { createTaskCreateTool } from "./create-task.ts";
import { BOARD_LEDGER } from "./events.ts";
import { createTaskGetTool } from "./get-task.ts";
import { ALLOWED, taskHooks } from "./hooks.ts";
import { createTaskListTool } from "./list-tasks.ts";
import { backInPlace, placeEvents, placesSlice } from "./places.ts";
import { ownerOf, type Remaking, type Task } from "./port.ts";
import { movesFor, type PlaceOf, TASKS_SLICE, type TaskFacts } from "./task-tree.ts";
import { createTaskUpdateTool } from "./update-task.ts";

/** The board of that store. What it is made of is loaded when it is first opened. */
export const openBoard = async (store: Store, opts: BoardOptions = {}): Promise<Board> =>
  (await import("./board.ts")).openBoardOn(store, opts);

/**
 * For who claims without a call: the same move, and where it leads. `remade`: what came of a worktree whose machine is gone; nothing where
 * there was nothing to do.
 */
export const placeFor =
  (placeOf: PlaceOf | undefined, remade?: (worktree: string, by: string) => Promise<Remaking | undefined>) =>
  async (
    task: Task,
    turn: Pick<Turn, "context" | "agent" | "root" | "slice">,
  ): Promise<{ events: (TaskFacts[number] | Remaking["event"])[]; path?: string; says?: string }> => {
    const made = task.worktree === null ? undefined : await remade?.(task.worktree, ownerOf(turn));
    const events = await movesFor(task, turn, placeOf);
    const moved = events.find((fact) => fact.type === "agent.moved")?.data;
    return {
      events: [...events, ...(made ? [made.event] : [])],
      ...(moved?.root && { path: moved.root }),
      ...(made && { says: made.says }),
    };
  };

export interface TasksOptions {
  /** Opened when a tool first needs it; without it there are no tools. */
  board?: () => Promise<Board>;
  /** How long a task stays with an owner that has no host. */
  orphanAfterMs?: number;
  /** Where a task's worktree is; without it a task that has one cannot be claimed. */
  placeOf?: PlaceOf;
}

export function createTasks({ board, orphanAfterMs, placeOf }: TasksOptions = {}): Mechanism {
  const outside: Outside = { at: ["intake", "gate"], notes: ["tasks"] };
  const settings = () => ({ hasBoard: board !== undefined });
  const carry = async (turn: Turn, how: Carrying) => (await import("./carry.ts")).carryTasks(turn, how);
  // A past with worktrees stays readable without a board.
  const facts = { name: TASKS_SLICE, events: placeEvents, fold: placesSlice, carry, outside, settings };
  if (!board) return defineMechanism({ ...facts, seams: { intake: () => [], gate: { judge: () => ALLOWED } } });
  let sweptAt = 0;
  /** Where the board is looked at anyway; at most once a minute. */
  const open = async (): Promise<Board> => {
    const opened = await board();
    if (Date.now() - sweptAt >= 60_000) {
      sweptAt = Date.now();
      await opened.sweep(orphanAfterMs === undefined ? {} : { orphanAfterMs }).catch(() => []);
    }
    return opened;
  };
  return defineMechanism({
    ...facts,
    alsoWokenBy: [BOARD_LEDGER],
    tools: [
      createTaskCreateTool(open),
      createTaskListTool(open),
      createTaskGetTool(open),
      createTaskClaimTool(open, placeOf),
      createTaskCompleteTool(open, placeOf),
      createTaskUpdateTool(open, placeOf),
    ],
    seams: {
      intake: (turn) => backInPlace(turn, board),
      gate: { judge: (call) => taskHooks(call, open) },
    },
  });
}
