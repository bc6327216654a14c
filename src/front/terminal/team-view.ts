// The team view: who does what and waits for what; plans, messages and worktrees are answered in place.

import { messageOf } from "../../ledger/error.ts";
import { escapedName } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { pressed } from "./key-name.ts";
import { createLineInput, type LineInput } from "./line-input.ts";
import { createPager, type Pager } from "./pager.ts";
import { cutRow, wordRows } from "./rows.ts";
import type { TeamNow, TeamSource } from "./team-now.ts";
import { entriesIn, keysFor, type TeamEntry, teamRows, waitingForYou } from "./team-rows.ts";
import type { Caret, Panel, Size, View } from "./view.ts";

export interface TeamViewOptions {
  source: TeamSource;
  style: Style;
  now: () => number;
  /** It wants to be drawn again. */
  changed: () => void;
  left: () => void;
}

export interface TeamView extends Panel {
  /** Looks again: for whoever knows that the ledger has changed. */
  refresh(): Promise<void>;
}

/** What is asked for below the rest. */
type Asking =
  | { kind: "text"; label: string; input: LineInput; done: (text: string) => void }
  | { kind: "sure"; question: string; done: () => void };

/** Of what came of something, at most so much of the screen. */
const MOST_OF_SCREEN = 0.5;
const PLAN_KEYS = "a approve · r reject · m message";
const TREE_KEYS = "M merge · x drop";

/** Contract: Ctrl-C is not taken; Escape goes back, from the list out of the view. */
export function createTeamView({ source, style, now, changed, left }: TeamViewOptions): TeamView {
  let team: TeamNow | undefined;
  let chosen: string | undefined;
  let opened: { entry: TeamEntry; pager: Pager } | undefined;
  let asking: Asking | undefined;
  let busy: string | undefined;
  let notice = "";
  let looking: Promise<void> | undefined;
  let looksAgain = false;
  const seenPlans = new Set<string>();

  const entries = (): TeamEntry[] => (team ? entriesIn(team) : []);
  const entryChosen = (): TeamEntry | undefined => opened?.entry ?? entries().find(({ key }) => key === chosen);

  async function look(): Promise<void> {
    do {
      looksAgain = false;
      team = await source.look();
    } while (looksAgain);
    const all = entries();
    if (!all.some(({ key }) => key === chosen)) chosen = all[0]?.key;
    changed();
  }

  function refresh(): Promise<void> {
    looksAgain = true;
    looking ??= look()
      .catch((error: unknown) => tell(messageOf(error)))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function tell(line: string): void {
    notice = line;
    changed();
  }

  /** One thing at a time. Contract: what comes of it is told, also when it fails. */
  function act(what: string, work: () => Promise<string>): void {
    busy = what;
    void work()
      .then(tell, (error: unknown) => tell(messageOf(error)))
      .finally(() => {
        busy = undefined;
        changed();
        void refresh();
      });
  }

  function open(entry: TeamEntry, title: string, text: () => Promise<string[]>): void {
    act("reading", async () => {
      const lines = await text();
      const keys = entry.worktree ? TREE_KEYS : entry.plan === undefined ? "m message" : PLAN_KEYS;
      const list = { length: lines.length, line: (i: number) => lines[i]! };
      const pager = createPager({ title: escapedName(title), lines: list, style, keys, changed, left: close });
      opened = { entry, pager };
      return "";
    });
  }

  function close(): void {
    opened = undefined;
  }

  const openPlan = (entry: TeamEntry, id: string): void =>
    open(entry, `${id} of ${entry.to ?? ""}`, async () => {
      const text = await source.plan(id);
      seenPlans.add(id);
      return safeLines(text.split("\n"));
    });

  const openTree = (entry: TeamEntry, name: string): void =>
    open(entry, `${name} · ${entry.worktree?.says ?? ""}`, async () =>
      safeLines((await source.worktree(name)).lines).map((line) => coloured(line, style)),
    );

  function openEntry(entry: TeamEntry): void {
    if (entry.plan !== undefined) openPlan(entry, entry.plan);
    else if (entry.worktree) openTree(entry, entry.worktree.name);
    else if (entry.member) {
      const { name, role, last } = entry.member;
      const lines = safeLines((last ?? "It has not said anything yet.").split("\n"));
      open(entry, `${name}${role === "" ? "" : ` · ${role}`}`, async () => lines);
    }
  }

  function review(id: string, approve: boolean, feedback: string): void {
    close();
    act(approve ? `approving ${id}` : `rejecting ${id}`, () => source.review(id, { approve, feedback }));
  }

  /** Contract: nobody approves what was not shown. */
  function approve(entry: TeamEntry, id: string): void {
    if (seenPlans.has(id)) review(id, true, "");
    else openPlan(entry, id);
  }

  function askText(label: string, done: (text: string) => void): void {
    asking = { kind: "text", label, input: createLineInput(), done };
  }

  function askMerge({ name, branch, uncommitted }: NonNullable<TeamEntry["worktree"]>): void {
    const first = uncommitted > 0 ? `commit ${uncommitted} uncommitted on ${branch}, then ` : "";
    const done = () => {
      close();
      act(`merging ${name}`, () => source.merge(name, { commit: uncommitted > 0 }));
    };
    asking = { kind: "sure", question: `${first}merge ${branch} into the project's tree?`, done };
  }

  function askDrop({ name, branch }: NonNullable<TeamEntry["worktree"]>): void {
    const done = () => {
      close();
      act(`dropping ${name}`, () => source.drop(name));
    };
    asking = { kind: "sure", question: `drop the worktree ${name}? Its branch ${branch} stays`, done };
  }

  /** What can be done with a row, in the list and where it is open. Contract: true when it was such a key. */
  function entryKey(name: string | undefined, entry: TeamEntry | undefined): boolean {
    const { plan, to, worktree } = entry ?? {};
    if (name === "a" && entry && plan !== undefined) approve(entry, plan);
    else if (name === "r" && plan !== undefined) askText(`why not ${plan}? `, (why) => review(plan, false, why));
    else if (name === "m" && to !== undefined)
      askText(`to ${to}: `, (text) => act("sending", () => source.send(to, text)));
    else if (name === "M" && worktree) askMerge(worktree);
    else if (name === "x" && worktree) askDrop(worktree);
    else return false;
    return true;
  }

  function listKey(name: string | undefined): void {
    const all = entries();
    const at = all.findIndex(({ key }) => key === chosen);
    const entry = all[at];
    if (name === "escape") left();
    else if (name === "up" || name === "down") {
      const next = Math.max(0, Math.min(all.length - 1, at + (name === "up" ? -1 : 1)));
      chosen = all[next]?.key;
    } else if (entry && (name === "enter" || (name === "d" && entry.worktree))) openEntry(entry);
    else entryKey(name, entry);
  }

  function askedKey(question: Asking, data: string): void {
    const { name } = pressed(data);
    if (question.kind === "sure") {
      asking = undefined;
      if (name === "y") question.done();
    } else if (name === "escape") asking = undefined;
    else if (name === "enter") {
      asking = undefined;
      if (question.input.value.trim() !== "") question.done(question.input.value.trim());
    } else question.input.key({ kind: "key", data });
  }

  /** The rows below everything: what came of something, what is asked, what can be pressed. */
  function footRows({ columns, rows }: Size): { rows: string[]; caret?: number } {
    const most = Math.max(1, Math.floor(rows * MOST_OF_SCREEN));
    const says = notice === "" ? [] : wordRows(escapedName(notice), columns, "  ").slice(0, most);
    const told = says.map(style.yellow);
    if (busy !== undefined) return { rows: [...told, style.dim(cutRow(`${escapedName(busy)} …`, columns))] };
    if (asking?.kind === "text") {
      const { row, column } = asking.input.render(escapedName(asking.label), columns);
      return { rows: [...told, row], caret: column };
    }
    if (asking) return { rows: wordRows(escapedName(`${asking.question} · y yes, any other key no`), columns, "  ") };
    return { rows: opened ? told : [...told, ...wordRows(keysFor(entryChosen()), columns).map(style.dim)] };
  }

  function listView({ columns, rows }: Size): View {
    const waiting = team ? waitingForYou(team) : 0;
    const title = style.bold(cutRow(`Team${waiting > 0 ? ` · ${waiting} for you to answer` : ""}`, columns));
    if (!team) return { lines: [title] };
    const all = teamRows(team, { columns, at: now(), style, chosen });
    const room = Math.max(1, rows - 1);
    const from = Math.max(0, Math.min(all.chosen - Math.floor(room / 2), all.rows.length - room));
    const caret = all.chosen < 0 ? {} : { caret: { row: 1 + all.chosen - from, column: 0 } };
    return { lines: [title, ...all.rows.slice(from, from + room)], ...caret };
  }

  return {
    refresh,
    render(size) {
      const foot = footRows(size);
      const above = { columns: size.columns, rows: Math.max(3, size.rows - foot.rows.length) };
      const view = opened ? opened.pager.render(above) : listView(above);
      const typing: Caret | undefined =
        foot.caret === undefined ? undefined : { row: view.lines.length + foot.rows.length - 1, column: foot.caret };
      const caret = typing ?? view.caret;
      return { lines: [...view.lines, ...foot.rows], ...(caret && { caret }) };
    },
    key(key) {
      if (key.kind === "paste") {
        const isTaken = asking?.kind === "text" ? asking.input.key(key) : (opened?.pager.key(key) ?? false);
        if (isTaken) changed();
        return isTaken;
      }
      const { name } = pressed(key.data);
      if (name === undefined || name === "ctrl+c") return false;
      notice = "";
      if (busy !== undefined) {
        if (name === "escape" && !opened) left();
      } else if (asking) askedKey(asking, key.data);
      else if (!opened) listKey(name);
      else if (opened.pager.isTyping || !entryKey(name, opened.entry)) opened.pager.key(key);
      changed();
      return true;
    },
  };
}

/** What hides is spelt; a tab is as wide as it looks in most editors. */
const safeLines = (lines: string[]): string[] => lines.map((line) => escapedName(line.replaceAll("\t", "    ")));

function coloured(line: string, style: Style): string {
  if (line.startsWith("@@")) return style.cyan(line);
  if (line.startsWith("+")) return style.green(line);
  return line.startsWith("-") ? style.red(line) : line;
}
