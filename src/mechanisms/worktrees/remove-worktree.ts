// The tool remove_worktree: refuses with the counts when anything would be lost or disturbed; the branch stays.

import * as z from "zod";
import { defineTool, type Tool, type ToolOutput, type ToolRun } from "../../loop/seams.ts";
import { counted } from "../../text/counted.ts";
import { fireHook } from "../hooks/port.ts";
import { actorOf, type By, type OpenTaskBoard, ownerOf, shownOwner } from "../tasks/port.ts";
import type { Removal, RemovalPlan, WorktreeState, Worktrees } from "./port.ts";

export interface RemoveWorktreePorts {
  board?: OpenTaskBoard;
  /** Running jobs whose directory is there. */
  jobsIn?: (dir: string) => number;
  /** Agents of all contexts whose tree it is, as `CONTEXT/AGENT`. */
  agentsIn?: (dir: string) => Promise<string[]>;
}

interface Input {
  name: string;
  discard_ignored?: boolean;
}

type Run = ToolRun & { input: Input };

/** As `intend` made it, in this process or an earlier one. */
const planOf = (run: Run): RemovalPlan => run.intent as RemovalPlan;

const FOLDERS = 8;

export function removeWorktreeTool(worktrees: Worktrees, ports: RemoveWorktreePorts): Tool<Input> {
  const removal = (run: Run): Removal => ({
    discardIgnored: run.input.discard_ignored ?? false,
    usedBy: (path) => whoUses({ name: run.input.name, path, by: run.turn }, ports),
  });
  const report = async (run: Run, state?: WorktreeState): Promise<ToolOutput> => {
    const { name, path, branch, head } = planOf(run);
    const freed = await unbind(run, ports);
    await fireHook(run.turn, "WorktreeRemove", { name, worktree_path: path, branch });
    const { ignoredFolders = [], ignoredFiles = [] } = state ?? {};
    const folders = ignoredFolders.slice(0, FOLDERS).join(" ") + (ignoredFolders.length > FOLDERS ? " …" : "");
    const lines = [
      `removed the worktree ${name}; its branch ${branch} stays (at ${head.slice(0, 10)})`,
      ...(ignoredFolders.length > 0 ? [`ignored folders that went with it: ${folders}`] : []),
      ...(ignoredFiles.length > 0 ? [`ignored files that went with it: ${ignoredFiles.length}`] : []),
      ...(freed.length > 0 ? [`no longer bound to it: ${freed.join(", ")}`] : []),
    ];
    return { content: lines.join("\n"), events: [{ type: "worktree.removed", data: { name, path, branch, head } }] };
  };
  return defineTool<Input>({
    name: "remove_worktree",
    description:
      "Remove a worktree that is clean, merged and unused; its branch stays. discard_ignored: also when it has single ignored files.",
    schema: () => z.strictObject({ name: z.string(), discard_ignored: z.boolean().optional() }),
    effect: "reconcile",
    intend: (run) => worktrees.planRemoval(run.input.name, removal(run)),
    async execute(run) {
      return report(run, await worktrees.remove(planOf(run), removal(run)));
    },
    async reconcile(run) {
      const isGone = await worktrees.resumeRemoval(planOf(run));
      return isGone ? { kind: "finished", output: await report(run) } : { kind: "undone" };
    },
  });
}

/** One phrase each. `by`: who asks; without a context a person. */
export async function whoUses(
  { name, path, by }: { name: string; path: string; by: By },
  { board, jobsIn, agentsIn }: RemoveWorktreePorts,
): Promise<string[]> {
  const running = board ? await (await board()).list({ status: "in_progress" }) : [];
  const tasks = running.flatMap(({ id, worktree, owner }) =>
    worktree === name && owner !== null ? [{ id, owner }] : [],
  );
  const owners = new Set(tasks.map((task) => task.owner));
  const agents = ((await agentsIn?.(path)) ?? []).filter((agent) => !owners.has(agent));
  const jobs = jobsIn?.(path) ?? 0;
  const who = (agent: string) => (agent === ownerOf(by) ? "you" : shownOwner(agent, by.context));
  const seen = by.context === undefined ? "`holdfast jobs ls`" : "list_jobs, job_kill";
  return [
    ...tasks.map(
      (task) =>
        `${who(task.owner)} ${who(task.owner) === "you" ? "work" : "works"} there on ${task.id}: complete or release it first`,
    ),
    ...agents.map((agent) => `${who(agent)} ${who(agent) === "you" ? "are" : "is"} in it`),
    ...(jobs > 0 ? [`${counted(jobs, "running job")} in it: see ${seen}`] : []),
  ];
}

/** Tasks that are yet to be done can be done without it; what is done keeps its word of where. */
async function unbind(run: Run, { board }: RemoveWorktreePorts): Promise<string[]> {
  if (!board) return [];
  const opened = await board();
  const bound = (await opened.list({ status: "pending" })).filter((task) => task.worktree === run.input.name);
  const by = await actorOf(run);
  for (const { id } of bound) await opened.update(id, { worktree: null }, { ...by, call: `${by.call}/${id}` });
  return bound.map((task) => task.id);
}
