// The tool create_worktree: a branch and a directory of its own, bound to a task, or an error; never the tree at hand instead.
import * as z from "zod";
import { refused } from "../../file-access/refused.ts";
import { messageOf } from "../../ledger/error.ts";
import { defineTool, type Tool, type ToolOutput, type ToolRun } from "../../loop/seams.ts";
import { fireHook } from "../hooks/port.ts";
import { actorOf, type OpenTaskBoard, ownerOf, shownOwner, type Task } from "../tasks/port.ts";
import { checkWorktreeName, type Made, type MakePlan, type Worktrees } from "./port.ts";

export interface CreateWorktreePorts {
  /** This one, where other machines reach the store. */
  machine?: string | undefined;
  board?: OpenTaskBoard;
  /** Facts by which an agent goes to the worktree of the task that it is at work on. */
  enter?: (task: Task, path: string) => NonNullable<ToolOutput["events"]>;
}

interface Input {
  name: string;
  task_id?: string;
}

type Intent = MakePlan & { task?: string };
type Run = ToolRun & { input: Input };

/** As `intend` made it, in this process or an earlier one. */
const intentOf = (run: Run): Intent => run.intent as Intent;

export function createWorktreeTool(worktrees: Worktrees, ports: CreateWorktreePorts): Tool<Input> {
  const report = async (run: Run, made: Made): Promise<ToolOutput> => {
    const { name, path, branch, commit, task } = intentOf(run);
    const bound = task === undefined ? undefined : await bind(run, task, ports);
    await fireHook(run.turn, "WorktreeCreate", { name, worktree_path: path, branch });
    const lines = [
      `created the worktree ${name} in ${path}`,
      `branch ${branch} at ${commit.slice(0, 10)}`,
      ...(bound?.lines ?? []),
      ...made.says,
    ];
    const { machine } = ports;
    const data = { name, path, branch, commit, ...(bound?.isBound ? { task } : {}), ...(machine && { machine }) };
    return { content: lines.join("\n"), events: [{ type: "worktree.created", data }, ...(bound?.events ?? [])] };
  };
  return defineTool<Input>({
    name: "create_worktree",
    description:
      "Make a git worktree on a new branch holdfast/NAME; with task_id, whoever claims that task works in it.",
    schema: () => z.strictObject({ name: z.string(), task_id: z.string().optional() }),
    effect: "reconcile",
    async intend(run): Promise<Intent> {
      const { name, task_id } = run.input;
      checkWorktreeName(name);
      const task = task_id === undefined ? undefined : await bindable(run, task_id, worktrees, ports);
      const { context, agent } = run.turn;
      const plan = await worktrees.planMake(name, { from: run.root, mark: `${context}/${agent}/${run.call.id}` });
      return { ...plan, ...(task && { task: task.id }) };
    },
    async execute(run) {
      return report(run, await worktrees.make(intentOf(run)));
    },
    async reconcile(run) {
      const made = await worktrees.resumeMake(intentOf(run));
      return made ? { kind: "finished", output: await report(run, made) } : { kind: "undone" };
    },
  });
}

/** Contract: throws before anything is made. */
async function bindable(run: Run, id: string, worktrees: Worktrees, { board }: CreateWorktreePorts): Promise<Task> {
  if (!board) throw refused("there is no task board here: leave out task_id");
  const task = await (await board()).get(id);
  const { status, owner } = task;
  if (status === "completed" || status === "cancelled") throw refused(`${task.id} is ${status}: it needs no worktree`);
  if (status === "in_progress" && owner !== ownerOf(run.turn))
    throw refused(
      `${task.id} is being worked on by ${shownOwner(owner ?? "nobody", run.turn.context)} where it is: its owner makes the worktree, or releases the task first`,
    );
  const other = task.worktree === run.input.name ? null : task.worktree;
  const isThere = other !== null && (await worktrees.placeOf(other).then(Boolean, () => false));
  if (isThere) throw refused(`${task.id} has the worktree ${other} already: use it, or remove it first`);
  return task;
}

interface Bound {
  isBound: boolean;
  lines: string[];
  events?: ToolOutput["events"];
}

async function bind(run: Run, id: string, { board, enter }: CreateWorktreePorts): Promise<Bound> {
  const { name, path } = intentOf(run);
  try {
    const by = await actorOf(run);
    const { task } = await (await board!()).update(id, { worktree: name }, by);
    const isMine = task.status === "in_progress" && task.owner === ownerOf(run.turn);
    if (!isMine || !enter)
      return {
        isBound: true,
        lines: [`bound to ${id}: whoever claims it works there, until it is complete or released`],
      };
    return { isBound: true, lines: [`bound to ${id}, which is yours: you work there now`], events: enter(task, path) };
  } catch (error) {
    return { isBound: false, lines: [`but it is not bound to ${id}: ${messageOf(error)}`] };
  }
}
