// Owns the mechanism `tasks`: the six tools on the project's board, and letting go of tasks whose owner is gone.
import type { Store } from "../../ledger/store.ts";
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import { createTaskClaimTool } from "../../tools/task-claim.ts";
import { createTaskCompleteTool } from "../../tools/task-complete.ts";
import { createTaskCreateTool } from "../../tools/task-create.ts";
import { createTaskGetTool } from "../../tools/task-get.ts";
import { createTaskListTool } from "../../tools/task-list.ts";
import { createTaskUpdateTool } from "../../tools/task-update.ts";
import type { Board, BoardOptions } from "./board.ts";

export type { Board } from "./board.ts";

/** The board of that store. What it is made of is loaded when it is first opened. */
export const openBoard = async (store: Store, opts: BoardOptions = {}): Promise<Board> =>
  (await import("./board.ts")).openBoard(store, opts);

export interface TasksOptions {
  /** Opened when a tool first needs it; without it there are no tools. */
  board?: () => Promise<Board>;
  /** How long a task stays with an owner that has no host. */
  orphanAfterMs?: number;
}

export function createTasks({ board, orphanAfterMs }: TasksOptions = {}): Mechanism {
  if (!board) return defineMechanism({ name: "tasks" });
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
    name: "tasks",
    tools: [
      createTaskCreateTool(open),
      createTaskListTool(open),
      createTaskGetTool(open),
      createTaskClaimTool(open),
      createTaskCompleteTool(open),
      createTaskUpdateTool(open),
    ],
  });
}
