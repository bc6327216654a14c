// `holdfast worktrees ls|show|diff|merge|rm`: what teams made, and how to take it over.

import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import { openLedger } from "../../ledger/ledger.ts";
import { agentsIn } from "../../loop/agents-in.ts";
import { jobsIn } from "../../mechanisms/jobs/job-dir.ts";
import type { Board } from "../../mechanisms/tasks/board.ts";
import { openBoard } from "../../mechanisms/tasks/index.ts";
import { shownOwner, type Task } from "../../mechanisms/tasks/port.ts";
import { type ComparedTree, type ListedTree, openWorktrees } from "../../mechanisms/worktrees/index.ts";
import { branchOf, stateLines } from "../../mechanisms/worktrees/port.ts";
import { whoUses } from "../../mechanisms/worktrees/remove-worktree.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import { type OpenState, withState } from "../open.ts";
import { createPage, newFilePatch } from "./diff-page.ts";

const MAX_BYTES = 256_000;
const SHOWN_FILES = 30;

interface Desk {
  trees: ReturnType<typeof openWorktrees>;
  board: Board;
  state: OpenState;
  flags: Flags;
}

/** Each verb has those of its own table. */
type Flags = PlaceFlags &
  JsonToo & { all?: boolean; stat?: boolean; commit?: boolean; reason?: string; discardIgnored?: boolean };

const VERBS = { ls, show, diff, merge, rm } satisfies Record<string, (desk: Desk, name: string) => Promise<void>>;

export const worktrees = (verb: keyof typeof VERBS, flags: Flags, [name = ""]: string[]): Promise<number> =>
  withState(flags, async (state) => {
    const { root, stateDir } = state.project;
    const trees = openWorktrees({ dir: `${stateDir}/worktrees`, root });
    await VERBS[verb]({ trees, board: await openBoard(state.store), state, flags }, name).catch(sayRefusal);
    return 0;
  });

/** What is refused here is no matter of policy. */
function sayRefusal(error: unknown): never {
  if (!isHoldfastError(error, "refused")) throw error;
  throw new HoldfastError("conflict", error.message, { cause: error });
}

const say = (text: string): void => void process.stdout.write(`${printable(text)}\n`);
const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** How to type it, wherever one is. */
const command = ({ flags, state }: Desk, ...words: string[]): string =>
  commandLine(["worktrees", ...words], flags, state.project.root);

async function tasksOf({ board }: Desk, name: string): Promise<Task[]> {
  return (await board.list()).filter((task) => task.worktree === name);
}

async function ls(desk: Desk): Promise<void> {
  const { trees, flags } = desk;
  const all = await trees.list({ all: flags.all });
  const rows = await Promise.all(
    all.map(async (tree) => {
      const tasks = await tasksOf(desk, tree.name);
      return {
        ...tree,
        agent: agentOf(tree, tasks),
        tasks: tasks.map(({ id, subject, status }) => ({ id, subject, status })),
      };
    }),
  );
  if (flags.json) return print(rows);
  if (rows.length === 0) process.stderr.write("No worktrees: a team makes them for its tasks.\n");
  for (const { tasks, agent, ...tree } of rows) {
    const task = tasks.map(({ id, status }) => `${id} ${status}`).join(", ") || "no task";
    say(`${tree.name.padEnd(20)} ${tree.branch.padEnd(28)} ${task.padEnd(22)} ${agent.padEnd(12)} ${heldBy(tree)}`);
    say(`  ${tree.path ?? "(no directory: only its branch is left)"}`);
  }
  const first = rows.find((tree) => tree.ahead > 0 || dirty(tree) > 0);
  if (first)
    process.stderr.write(
      `See what is in one: ${command(desk, "diff", first.name)}\nTake it over: ${takeOver(desk, first)}\n`,
    );
}

/** Who works on it, else who made it. */
function agentOf({ madeBy }: ListedTree, tasks: readonly Task[]): string {
  const owner = tasks.find((task) => task.owner !== null)?.owner ?? madeBy?.split("/").slice(0, 2).join("/");
  return owner === undefined ? "" : shownOwner(owner, owner.split("/")[0]);
}

const dirty = ({ state }: ListedTree): number => (state ? state.staged + state.unstaged + state.untracked : 0);

/** `2 ahead, 1 behind; 3 changes uncommitted` */
function heldBy(tree: ListedTree): string {
  if (tree.problem !== undefined) return oneLine(tree.problem, 120);
  const parts = [
    ...(tree.ahead + tree.behind > 0 ? [`${tree.ahead} ahead, ${tree.behind} behind`] : []),
    ...(dirty(tree) > 0 ? [`${counted(dirty(tree), "change")} uncommitted`] : []),
    ...(tree.state?.operation ? [`a ${tree.state.operation} is going on`] : []),
    ...(tree.state?.kept === undefined
      ? []
      : [`for review${tree.state.kept ? `: ${oneLine(tree.state.kept, 60)}` : ""}`]),
  ];
  return parts.join("; ") || "nothing new";
}

/** The command that takes all of it over. */
const takeOver = (desk: Desk, tree: ListedTree): string =>
  command(desk, "merge", tree.name, ...(dirty(tree) > 0 ? ["--commit"] : []));

async function show(desk: Desk, name: string): Promise<void> {
  const { trees, flags } = desk;
  const compared = await trees.compare(name);
  const tree = (await trees.list({ all: true })).find((one) => one.name === name)!;
  const tasks = await tasksOf(desk, name);
  const { ahead, behind, state, problem } = tree;
  if (flags.json)
    return print({ ...compared, ahead, behind, ...(state && { state }), ...(problem && { problem }), tasks });
  say(`${name}  ${compared.branch}  ${heldBy(tree)}`);
  say(compared.path ?? "(no directory: only its branch is left)");
  for (const line of state ? stateLines(state) : []) say(`  ${line}`);
  for (const task of tasks) say(`task ${task.id} ${task.status}: ${oneLine(task.subject, 100)}`);
  for (const { id, subject } of compared.commits) say(`  ${id.slice(0, 10)} ${oneLine(subject, 100)}`);
  sayFiles(compared);
  if (ahead > 0 || dirty(tree) > 0)
    say(`See it all: ${command(desk, "diff", name)}\nTake it over: ${takeOver(desk, tree)}`);
  else if (compared.path) say(`Nothing of it is missing here. Remove it: ${command(desk, "rm", name)}`);
}

function sayFiles({ files }: ComparedTree): void {
  for (const { path, added, removed, untracked } of files.slice(0, SHOWN_FILES)) {
    const what = untracked ? "untracked" : added === null ? "binary" : `+${added} -${removed}`;
    say(`  ${what.padStart(12)}  ${oneLine(path, 200)}`);
  }
  if (files.length > SHOWN_FILES) say(`  … and ${files.length - SHOWN_FILES} more files`);
}

async function diff({ trees, flags }: Desk, name: string): Promise<void> {
  const compared = await trees.compare(name, flags.stat ? {} : { patch: true, maxBytes: MAX_BYTES });
  const { patch, untracked = [], ...names } = compared;
  const added = untracked.map((file) => ({ path: file.path, ...newFilePatch(file) }));
  if (flags.json) return print({ ...names, ...(patch !== undefined && { patch, untracked: added }) });
  if (names.files.length === 0) process.stderr.write("Nothing differs.\n");
  if (flags.stat) return sayFiles(compared);
  const page = createPage();
  page.body(patch?.trimEnd() || undefined);
  for (const one of added) {
    page.line(`+ untracked ${oneLine(one.path, 500)}${one.why === undefined ? "" : `  ${one.why}`}`);
    page.body(one.patch);
  }
  page.end();
}

async function merge(desk: Desk, name: string): Promise<void> {
  const { trees, flags } = desk;
  const [task] = await tasksOf(desk, name);
  const message = flags.reason ?? (task ? `${task.subject} (${task.id})` : `Work in the worktree ${name}`);
  const usedBy = (path: string) => users(desk, name, path);
  const done = await trees.merge(name, { usedBy, ...(flags.commit && { commit: message }) });
  if (flags.json) return print({ name, ...done });
  if (done.committed) say(`Committed what was uncommitted on ${done.branch} (${done.committed.slice(0, 10)})`);
  if (done.commits === 0) return say(`Nothing to merge: ${done.into} has all of ${done.branch}`);
  say(
    `Merged ${counted(done.commits, "commit")} of ${done.branch} (${counted(done.files, "file")}) into ${done.into}, now at ${done.head.slice(0, 10)}`,
  );
  process.stderr.write(`The worktree stays. Remove it with: ${command(desk, "rm", name)}\n`);
}

async function rm(desk: Desk, name: string): Promise<void> {
  const { trees, board, flags } = desk;
  const removal = {
    discardIgnored: flags.discardIgnored ?? false,
    byPerson: true,
    usedBy: (path: string) => users(desk, name, path),
  };
  const plan = await trees.planRemoval(name, removal);
  const { ignoredFolders, ignoredFiles } = await trees.remove(plan, removal);
  const bound = (await tasksOf(desk, name)).filter(({ status }) => status === "pending");
  for (const { id } of bound) await board.update(id, { worktree: null }, { agent: "user" });
  const freed = bound.map(({ id }) => id);
  if (flags.json) return print({ ...plan, lock: undefined, removed: true, ignoredFolders, ignoredFiles, freed });
  say(`Removed the worktree ${name}; its branch ${branchOf(name)} stays (at ${plan.head.slice(0, 10)})`);
  if (ignoredFolders.length > 0) say(`Ignored folders that went with it: ${oneLine(ignoredFolders.join(" "), 200)}`);
  if (freed.length > 0) say(`No longer bound to it: ${freed.join(", ")}`);
}

/** Who works in it: tasks, agents of all contexts, running jobs. */
function users({ board, state }: Desk, name: string, path: string): Promise<string[]> {
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
