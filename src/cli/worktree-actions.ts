// What a person asks of worktrees, and what comes of it, as values: commands print them, the terminal shows them.

import { oneLine } from "../front/presentation/printable.ts";
import { openLedger } from "../ledger/ledger.ts";
import { agentsIn } from "../loop/agents-in.ts";
import { jobsIn } from "../mechanisms/jobs/job-dir.ts";
import type { Board } from "../mechanisms/tasks/board.ts";
import { openBoard } from "../mechanisms/tasks/index.ts";
import { shownOwner, type Task } from "../mechanisms/tasks/port.ts";
import { machineText, notHere, tellRemoved, treesElsewhere } from "../mechanisms/worktrees/elsewhere.ts";
import { type ComparedTree, type ListedTree, openWorktrees } from "../mechanisms/worktrees/index.ts";
import type { MergedTree } from "../mechanisms/worktrees/merge.ts";
import { branchOf, type RemovalPlan } from "../mechanisms/worktrees/port.ts";
import { whoUses } from "../mechanisms/worktrees/remove-worktree.ts";
import { counted } from "../text/counted.ts";
import { newFilePatch } from "./commands/diff-page.ts";
import { ledgerReaders } from "./ledger-readers.ts";
import type { OpenState } from "./open.ts";

/** Untracked files that are longer are named only. */
const MAX_BYTES = 256_000;

export interface WorktreeDesk {
  trees: ReturnType<typeof openWorktrees>;
  board: Board;
  state: OpenState;
}

export async function worktreeDesk(state: OpenState): Promise<WorktreeDesk> {
  const { root, stateDir } = state.project;
  return { trees: openWorktrees({ dir: `${stateDir}/worktrees`, root }), board: await openBoard(state.store), state };
}

export async function tasksIn({ board }: WorktreeDesk, name: string): Promise<Task[]> {
  return (await board.list()).filter((task) => task.worktree === name);
}

export interface WorktreeRow extends ListedTree {
  /** Whose machine it is on, where that is not this one: then nothing of it can be looked at here, and the path is one of that machine. */
  machine?: string;
  /** Who works on it, else who made it; "" where nobody knows. */
  agent: string;
  tasks: Pick<Task, "id" | "subject" | "status">[];
}

/** `elsewhere`: those of other machines too, as far as the store tells of them. */
export async function listedWorktrees(
  desk: WorktreeDesk,
  { all = false, elsewhere = false } = {},
): Promise<WorktreeRow[]> {
  const tasks = await desk.board.list();
  const others = elsewhere ? await treesElsewhere(desk.state.store) : [];
  const here = await desk.trees.list({ all });
  const there = others.map((tree) => ({ ...tree, ahead: 0, behind: 0 }));
  // Of one whose folder is elsewhere only the branch may be here.
  const own = here.filter(({ name, path }) => path !== null || !others.some((one) => one.name === name));
  return [...own, ...there].map((tree) => {
    const bound = tasks.filter((task) => task.worktree === tree.name);
    return {
      ...tree,
      agent: agentOf(tree, bound),
      tasks: bound.map(({ id, subject, status }) => ({ id, subject, status })),
    };
  });
}

function agentOf({ madeBy }: ListedTree, tasks: readonly Task[]): string {
  const owner = tasks.find((task) => task.owner !== null)?.owner ?? madeBy?.split("/").slice(0, 2).join("/");
  return owner === undefined ? "" : shownOwner(owner, owner.split("/")[0]);
}

export const uncommittedIn = ({ state }: ListedTree): number =>
  state ? state.staged + state.unstaged + state.untracked : 0;

/** `2 ahead, 1 behind; 3 changes uncommitted` */
export function treeHolds(tree: WorktreeRow | ListedTree): string {
  if ("machine" in tree && tree.machine !== undefined) return machineText(tree.machine);
  if (tree.problem !== undefined) return oneLine(tree.problem, 120);
  const changes = uncommittedIn(tree);
  const parts = [
    ...(tree.ahead + tree.behind > 0 ? [`${tree.ahead} ahead, ${tree.behind} behind`] : []),
    ...(changes > 0 ? [`${counted(changes, "change")} uncommitted`] : []),
    ...(tree.state?.operation ? [`a ${tree.state.operation} is going on`] : []),
    ...(tree.state?.kept === undefined
      ? []
      : [`for review${tree.state.kept ? `: ${oneLine(tree.state.kept, 60)}` : ""}`]),
  ];
  return parts.join("; ") || "nothing new";
}

/** Contract: throws where that tree is on another machine, and neither its folder nor its branch is here. */
export async function demandHere({ trees, state }: WorktreeDesk, name: string): Promise<void> {
  if (state.store.reach === "machine" || (await trees.list({ all: true })).some((one) => one.name === name)) return;
  const there = (await treesElsewhere(state.store)).find((one) => one.name === name);
  if (there) throw notHere(there);
}

export interface WorktreeDiff {
  names: Omit<ComparedTree, "patch" | "untracked">;
  patch?: string;
  added: { path: string; patch?: string; why?: string }[];
}

/** All that it has since it left the project's branch. Without `patch`: the files only. */
export async function worktreeDiff(
  desk: WorktreeDesk,
  name: string,
  { patch: wanted = true } = {},
): Promise<WorktreeDiff> {
  await demandHere(desk, name);
  const compared = await desk.trees.compare(name, wanted ? { patch: true, maxBytes: MAX_BYTES } : {});
  const { patch, untracked = [], ...names } = compared;
  const added = untracked.map((file) => ({ path: file.path, ...newFilePatch(file) }));
  return { names, ...(patch !== undefined && { patch }), added };
}

/** What stands above an untracked file. */
export const untrackedLine = ({ path, why }: WorktreeDiff["added"][number]): string =>
  `+ untracked ${oneLine(path, 500)}${why === undefined ? "" : `  ${why}`}`;

export interface Merging {
  /** What is uncommitted is committed first. */
  commit: boolean;
  /** The message of that commit; default: the task's subject. */
  reason?: string | undefined;
}

/** Contract: `lines` say what came of it; a refusal is thrown, and nothing has changed. */
export async function mergeWorktree(
  desk: WorktreeDesk,
  name: string,
  { commit, reason }: Merging,
): Promise<{ done: MergedTree; lines: string[] }> {
  await demandHere(desk, name);
  const [task] = await tasksIn(desk, name);
  const message = reason ?? (task ? `${task.subject} (${task.id})` : `Work in the worktree ${name}`);
  const usedBy = (path: string) => users(desk, name, path);
  const done = await desk.trees.merge(name, { usedBy, ...(commit && { commit: message }) });
  const { branch, into, committed, commits, files, head } = done;
  const first = committed ? [`Committed what was uncommitted on ${branch} (${committed.slice(0, 10)})`] : [];
  const merged = `Merged ${counted(commits, "commit")} of ${branch} (${counted(files, "file")}) into ${into}, now at ${head.slice(0, 10)}`;
  return { done, lines: [...first, commits === 0 ? `Nothing to merge: ${into} has all of ${branch}` : merged] };
}

export interface RemovedWorktree {
  plan: RemovalPlan;
  ignoredFolders: string[];
  ignoredFiles: string[];
  /** Tasks that are no longer bound to it. */
  freed: string[];
  lines: string[];
}

/** Contract: as of `mergeWorktree`; the branch stays. */
export async function dropWorktree(
  desk: WorktreeDesk,
  name: string,
  { discardIgnored }: { discardIgnored: boolean },
): Promise<RemovedWorktree> {
  await demandHere(desk, name);
  const removal = { discardIgnored, byPerson: true, usedBy: (path: string) => users(desk, name, path) };
  const plan = await desk.trees.planRemoval(name, removal);
  const { ignoredFolders, ignoredFiles } = await desk.trees.remove(plan, removal);
  const bound = (await tasksIn(desk, name)).filter(({ status }) => status === "pending");
  for (const { id } of bound) await desk.board.update(id, { worktree: null }, { agent: "user" });
  const freed = bound.map(({ id }) => id);
  await tellRemoved(desk.state.store, plan);
  const lines = [
    `Removed the worktree ${name}; its branch ${branchOf(name)} stays (at ${plan.head.slice(0, 10)})`,
    ...(ignoredFolders.length > 0
      ? [`Ignored folders that went with it: ${oneLine(ignoredFolders.join(" "), 200)}`]
      : []),
    ...(freed.length > 0 ? [`No longer bound to it: ${freed.join(", ")}`] : []),
  ];
  return { plan, ignoredFolders, ignoredFiles, freed, lines };
}

/** Who works in it: tasks, agents of all contexts, running jobs. */
function users({ board, state }: WorktreeDesk, name: string, path: string): Promise<string[]> {
  const { store, jobsDir, project } = state;
  const open = async (context: string) =>
    openLedger({ store, name: context, ...(await ledgerReaders({ root: project.root, jobsDir })) });
  return whoUses(
    { name, path, by: { agent: "user" } },
    {
      board: async () => board,
      jobsIn: (dir) => jobsIn(jobsDir, dir),
      agentsIn: (tree) => agentsIn(store, open, tree),
    },
  );
}
