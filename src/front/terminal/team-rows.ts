// The rows of the team view: one for each teammate, plan and worktree, and what can be done with it.

import { counted } from "../../text/counted.ts";
import { elapsed } from "../presentation/format.ts";
import { escapedName } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { cutRow, paddedRow } from "./rows.ts";
import type { PlanInReview, TeamMember, TeamNow, TeamWorktree } from "./team-now.ts";

/** What a row is about. `plan`: the one that waits, of a teammate too. `to`: who gets a message. */
export interface TeamEntry {
  /** Stays the same while others come and go. */
  key: string;
  plan?: string;
  to?: string;
  worktree?: TeamWorktree;
  member?: TeamMember;
}

export const entriesIn = ({ members, plans, worktrees }: TeamNow): TeamEntry[] => [
  ...members.map((member) => ({
    ...{ key: `member ${member.name}`, to: member.name, member },
    ...(member.waitsFor.kind === "plan" && { plan: member.waitsFor.id }),
  })),
  ...plans.map(({ id, by }) => ({ key: `plan ${id}`, plan: id, to: by })),
  ...worktrees.map((worktree) => ({
    ...{ key: `worktree ${worktree.name}`, worktree },
    ...(members.some(({ name }) => name === worktree.agent) && { to: worktree.agent }),
  })),
];

export interface RowOptions {
  columns: number;
  at: number;
  style: Style;
  /** The key of the row that is chosen. */
  chosen: string | undefined;
}

/** Contract: every row fits. `chosen`: which of them is. */
export function teamRows(now: TeamNow, opts: RowOptions): { rows: string[]; chosen: number } {
  const { columns, at, style } = opts;
  const width = Math.min(20, Math.floor(columns / 4));
  const rows: string[] = [];
  let chosen = -1;
  const add = (key: string, name: string, says: string, isWanted: boolean) => {
    const isChosen = key === opts.chosen;
    if (isChosen) chosen = rows.length;
    const row = cutRow(`${isChosen ? "▸" : " "} ${paddedRow(escapedName(name), width)} ${escapedName(says)}`, columns);
    rows.push(isChosen ? style.cyan(row) : isWanted ? style.yellow(row) : row);
  };
  const heading = (text: string) => void rows.push(style.bold(cutRow(text, columns)));
  for (const one of now.members) add(`member ${one.name}`, one.name, memberSays(one, at), isWaiting(one));
  if (now.plans.length > 0) heading("Plans that wait for you");
  for (const one of now.plans) add(`plan ${one.id}`, one.by, planSays(one, at), true);
  if (now.worktrees.length > 0) heading("Worktrees");
  for (const one of now.worktrees) add(`worktree ${one.name}`, one.name, treeSays(one), false);
  return { rows, chosen };
}

/** A person has to do something. */
const isWaiting = ({ waitsFor }: TeamMember): boolean => waitsFor.kind === "plan" || waitsFor.kind === "approval";

export const waitingForYou = ({ members, plans }: TeamNow): number =>
  plans.length + members.filter(({ waitsFor }) => waitsFor.kind === "approval").length;

function memberSays({ doing, call, task, waitsFor, since, role }: TeamMember, at: number): string {
  const time = since === undefined ? [] : [elapsed(Math.max(0, at - since))];
  const on = task === undefined ? [] : [`${task.id} ${task.subject}`];
  switch (waitsFor.kind) {
    case "plan":
      return [`waits for you: ${waitsFor.id}`, ...time, ...on].join(" · ");
    case "approval":
      return [`waits for your yes: ${waitsFor.title}`, ...time, ...on].join(" · ");
    case "message":
      return [`${doing}, waits for a message`, ...on, ...(role === "" ? [] : [role])].join(" · ");
    case "nothing":
      return [call ?? doing, ...time, ...on].join(" · ");
  }
}

const planSays = ({ id, at: since }: PlanInReview, at: number): string => `${id} · ${elapsed(Math.max(0, at - since))}`;

function treeSays({ branch, tasks, commits, files, uncommitted, says }: TeamWorktree): string {
  if (commits + uncommitted === 0) return [says, ...tasks, branch].join(" · ");
  const holds = `${counted(commits, "commit")}, ${counted(files, "file")}`;
  const rest = uncommitted > 0 ? [`${uncommitted} uncommitted`] : [];
  return [holds, ...rest, ...tasks, branch].join(" · ");
}

/** What can be pressed on such a row. */
export function keysFor(entry: TeamEntry | undefined): string {
  const keys = [
    ...(entry?.plan === undefined ? [] : ["a approve", "r reject"]),
    ...(entry?.to === undefined ? [] : ["m message"]),
    ...(entry?.worktree ? ["d diff", "M merge", "x drop"] : []),
  ];
  return ["↑↓ Enter", ...keys, "Esc back"].join(" · ");
}
