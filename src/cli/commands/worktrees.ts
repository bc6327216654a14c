// `holdfast worktrees ls|show|diff|merge|rm`: what teams made, and how to take it over.

import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import type { ComparedTree, ListedTree } from "../../mechanisms/worktrees/index.ts";
import { stateLines } from "../../mechanisms/worktrees/port.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { withState } from "../open.ts";
import {
  demandHere,
  dropWorktree,
  listedWorktrees,
  mergeWorktree,
  tasksIn,
  treeHolds,
  uncommittedIn,
  untrackedLine,
  type WorktreeDesk,
  worktreeDesk,
  worktreeDiff,
} from "../worktree-actions.ts";
import { createPage } from "./diff-page.ts";

const SHOWN_FILES = 30;

interface Desk extends WorktreeDesk {
  flags: Flags;
}

/** Each verb has those of its own table. */
type Flags = PlaceFlags &
  JsonToo & { all?: boolean; stat?: boolean; commit?: boolean; reason?: string; discardIgnored?: boolean };

const VERBS = { ls, show, diff, merge, rm } satisfies Record<string, (desk: Desk, name: string) => Promise<void>>;

export const worktrees = (verb: keyof typeof VERBS, flags: Flags, [name = ""]: string[]): Promise<number> =>
  withState(flags, async (state) => {
    await VERBS[verb]({ ...(await worktreeDesk(state)), flags }, name).catch(sayRefusal);
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

async function ls(desk: Desk): Promise<void> {
  const { flags } = desk;
  const rows = await listedWorktrees(desk, { all: flags.all ?? false, elsewhere: true });
  if (flags.json) return print(rows);
  if (rows.length === 0) process.stderr.write("No worktrees: a team makes them for its tasks.\n");
  for (const { tasks, agent, ...tree } of rows) {
    const task = tasks.map(({ id, status }) => `${id} ${status}`).join(", ") || "no task";
    say(`${tree.name.padEnd(20)} ${tree.branch.padEnd(28)} ${task.padEnd(22)} ${agent.padEnd(12)} ${treeHolds(tree)}`);
    say(`  ${tree.path ?? "(no directory: only its branch is left)"}${tree.machine === undefined ? "" : " (there)"}`);
  }
  const first = rows.find((tree) => tree.machine === undefined && (tree.ahead > 0 || uncommittedIn(tree) > 0));
  if (first)
    process.stderr.write(
      `See what is in one: ${command(desk, "diff", first.name)}\nTake it over: ${takeOver(desk, first)}\n`,
    );
}

/** The command that takes all of it over. */
const takeOver = (desk: Desk, tree: ListedTree): string =>
  command(desk, "merge", tree.name, ...(uncommittedIn(tree) > 0 ? ["--commit"] : []));

async function show(desk: Desk, name: string): Promise<void> {
  const { trees, flags } = desk;
  await demandHere(desk, name);
  const compared = await trees.compare(name);
  const tree = (await trees.list({ all: true })).find((one) => one.name === name)!;
  const tasks = await tasksIn(desk, name);
  const { ahead, behind, state, problem } = tree;
  if (flags.json)
    return print({ ...compared, ahead, behind, ...(state && { state }), ...(problem && { problem }), tasks });
  say(`${name}  ${compared.branch}  ${treeHolds(tree)}`);
  say(compared.path ?? "(no directory: only its branch is left)");
  for (const line of state ? stateLines(state) : []) say(`  ${line}`);
  for (const task of tasks) say(`task ${task.id} ${task.status}: ${oneLine(task.subject, 100)}`);
  for (const { id, subject } of compared.commits) say(`  ${id.slice(0, 10)} ${oneLine(subject, 100)}`);
  sayFiles(compared);
  if (ahead > 0 || uncommittedIn(tree) > 0)
    say(`See it all: ${command(desk, "diff", name)}\nTake it over: ${takeOver(desk, tree)}`);
  else if (compared.path) say(`Nothing of it is missing here. Remove it: ${command(desk, "rm", name)}`);
}

function sayFiles({ files }: Pick<ComparedTree, "files">): void {
  for (const { path, added, removed, untracked } of files.slice(0, SHOWN_FILES)) {
    const what = untracked ? "untracked" : added === null ? "binary" : `+${added} -${removed}`;
    say(`  ${what.padStart(12)}  ${oneLine(path, 200)}`);
  }
  if (files.length > SHOWN_FILES) say(`  … and ${files.length - SHOWN_FILES} more files`);
}

async function diff(desk: Desk, name: string): Promise<void> {
  const { flags } = desk;
  const { names, patch, added } = await worktreeDiff(desk, name, { patch: !flags.stat });
  if (flags.json) return print({ ...names, ...(patch !== undefined && { patch, untracked: added }) });
  if (names.files.length === 0) process.stderr.write("Nothing differs.\n");
  if (flags.stat) return sayFiles(names);
  const page = createPage();
  page.body(patch?.trimEnd() || undefined);
  for (const one of added) {
    page.line(untrackedLine(one));
    page.body(one.patch);
  }
  page.end();
}

async function merge(desk: Desk, name: string): Promise<void> {
  const { flags } = desk;
  const { done, lines } = await mergeWorktree(desk, name, { commit: flags.commit ?? false, reason: flags.reason });
  if (flags.json) return print({ name, ...done });
  for (const line of lines) say(line);
  if (done.commits > 0) process.stderr.write(`The worktree stays. Remove it with: ${command(desk, "rm", name)}\n`);
}

async function rm(desk: Desk, name: string): Promise<void> {
  const { flags } = desk;
  const { plan, lines, ...rest } = await dropWorktree(desk, name, { discardIgnored: flags.discardIgnored ?? false });
  if (flags.json) return print({ ...plan, lock: undefined, removed: true, ...rest });
  for (const line of lines) say(line);
}
