// The tasks that an agent has claimed, and the worktree that it is in because of one.
import type { Carrying } from "../../loop/carry.ts";
import type { Turn } from "../../loop/seams.ts";
import { fittingLines } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";
import { short } from "./task-text.ts";
import { tasksHeld, workplaceOf } from "./task-tree.ts";

/** Of the window. */
const SHARE = 0.02;

export function carryTasks(turn: Pick<Turn, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const held = Object.entries(tasksHeld(turn)).map(([id, subject]) => `- ${visible(id)}: ${short(subject)}`);
  const here = workplaceOf(turn);
  const head = "Tasks of the board that you have claimed and not completed (get_task says all of one):";
  return [
    ...(held.length > 0
      ? [head, ...fittingLines(held, room(SHARE), (count) => `- and ${count} more: list_tasks`)]
      : []),
    ...(here ? [`For ${visible(here.task)} you work in the worktree ${visible(here.path)}; commit there.`] : []),
  ].join("\n");
}
