// The team of one context for the terminal's team view: read from its ledger, and answered by what the commands `team` and `worktrees` do.

import { matesOf, reviewPlan, sendAsUser, teamIn } from "../front/actions/team.ts";
import { callTitle } from "../front/presentation/titles.ts";
import type { MemberWait, TeamMember, TeamNow, TeamSource, TeamWorktree } from "../front/terminal/team-now.ts";
import { isHoldfastError } from "../ledger/error.ts";
import { type Ledger, openLedger, sliceOf } from "../ledger/ledger.ts";
import { contextState, LEAD } from "../loop/agent.ts";
import type { AgentState } from "../loop/transcript.ts";
import type { ApprovalRequest, ApprovalsState } from "../mechanisms/approvals/events.ts";
import { listedRequests } from "../mechanisms/approvals/index.ts";
import { planNamed } from "../mechanisms/team/decide.ts";
import { pendingPlan, pendingPlans } from "../mechanisms/team/state.ts";
import { errorText } from "./error-text.ts";
import { ledgerReaders } from "./ledger-readers.ts";
import type { OpenState } from "./open.ts";
import {
  dropWorktree,
  listedWorktrees,
  mergeWorktree,
  treeHolds,
  uncommittedIn,
  untrackedLine,
  type WorktreeDesk,
  type WorktreeRow,
  worktreeDesk,
  worktreeDiff,
} from "./worktree-actions.ts";

/** Git is asked for worktrees no more often than this; nobody tells when a file in one changes. */
const LOOK_EVERY_MS = 3_000;

export interface TeamSourceOptions {
  state: OpenState;
  context: string;
  now?: () => number;
}

/** Contract: opens the ledger at the first call; the store stays whoever's it is. */
export function createTeamSource({ state, context, now = Date.now }: TeamSourceOptions): TeamSource {
  let opening: Promise<{ ledger: Ledger; desk: WorktreeDesk }> | undefined;
  let trees: { at: number; all: TeamWorktree[] } | undefined;
  const counts = new Map<string, number>();

  async function open() {
    const { store, project, jobsDir } = state;
    const reading = await ledgerReaders({ root: project.root, jobsDir });
    return { ledger: await openLedger({ store, name: context, ...reading }), desk: await worktreeDesk(state) };
  }

  /** As it stands now, whoever wrote to it. */
  async function current() {
    opening ??= open();
    const opened = await opening.catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    await opened.ledger.catchUp();
    return opened;
  }

  async function treesNow(desk: WorktreeDesk): Promise<TeamWorktree[]> {
    if (trees && now() - trees.at < LOOK_EVERY_MS) return trees.all;
    const rows = await listedWorktrees(desk).catch(noRepository);
    const all = await Promise.all(rows.map((row) => shownTree(desk, row)));
    trees = { at: now(), all };
    return all;
  }

  async function shownTree(desk: WorktreeDesk, row: WorktreeRow): Promise<TeamWorktree> {
    const { name, branch, agent, tasks, ahead } = row;
    const uncommitted = uncommittedIn(row);
    return {
      ...{ name, branch, agent, commits: ahead, uncommitted },
      tasks: tasks.map(({ id, status }) => `${id} ${status}`),
      files: ahead + uncommitted === 0 ? 0 : await filesIn(desk, row),
      says: treeHolds(row),
    };
  }

  /** Asked of git again only where something else is committed or changed. */
  async function filesIn(
    { trees: git }: WorktreeDesk,
    { name, ahead, behind, state: at }: WorktreeRow,
  ): Promise<number> {
    const key = [name, ahead, behind, at?.head, at?.staged, at?.unstaged, at?.untracked].join(" ");
    const known =
      counts.get(key) ??
      (await git.compare(name).then(
        ({ files }) => files.length,
        () => 0,
      ));
    counts.set(key, known);
    return known;
  }

  /** What came of it in one line, or why it was refused. */
  async function saying(work: (opened: Awaited<ReturnType<typeof open>>) => Promise<string>): Promise<string> {
    try {
      return await work(await current());
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      return errorText(error).replace(/\s*\n\s*/g, " ");
    }
  }

  return {
    async look(): Promise<TeamNow> {
      const { ledger, desk } = await current();
      const team = teamIn(ledger);
      const requests = listedRequests(sliceOf<ApprovalsState>(ledger, "approvals"));
      const waiting = (name: string) => requests.find((one) => one.agent === name && one.movedTo === undefined);
      const mates = (await matesOf(desk.board, [ledger])).filter(({ mate }) => mate.status === "active");
      const lead = contextState(ledger).agents[LEAD];
      const about = { role: "", doing: lead?.turn ? "working" : "idle" };
      return {
        members: [
          ...(lead ? [member({ name: LEAD, ...about }, lead, { request: waiting(LEAD) })] : []),
          ...mates.map(({ mate, agent, doing, task }) => {
            const seen = { name: mate.name, role: mate.role, doing };
            const own = task && { task: { id: task.id, subject: task.subject } };
            const waits = { request: waiting(mate.name), plan: pendingPlan(team, mate.name) };
            return { ...member(seen, agent, waits), ...own };
          }),
        ],
        plans: pendingPlans(team).map(({ requestId, by, at }) => ({ id: requestId, by, at })),
        worktrees: await treesNow(desk),
      };
    },
    plan: (id) => saying(async ({ ledger }) => planNamed(teamIn(ledger), id).plan),
    review: (id, answer) => saying(async ({ ledger }) => (await reviewPlan([ledger], { given: id, ...answer })).line),
    send: (to, content) => saying(async ({ ledger }) => (await sendAsUser([ledger], { to, content })).line),
    async worktree(name) {
      const lines: string[] = [];
      const problem = await saying(async ({ desk }) => {
        const { patch = "", added } = await worktreeDiff(desk, name);
        if (patch !== "") lines.push(...patch.trimEnd().split("\n"));
        for (const one of added) lines.push(untrackedLine(one), ...(one.patch?.split("\n") ?? []));
        return "Nothing differs.";
      });
      return { lines: lines.length > 0 ? lines : [problem] };
    },
    merge: (name, { commit = false } = {}) =>
      saying(async ({ desk }) => {
        trees = undefined;
        return (await mergeWorktree(desk, name, { commit })).lines.join(" · ");
      }),
    drop: (name) =>
      saying(async ({ desk }) => {
        trees = undefined;
        return (await dropWorktree(desk, name, { discardIgnored: false })).lines.join(" · ");
      }),
  };
}

interface Waits {
  request?: ApprovalRequest | undefined;
  plan?: { requestId: string; at: number } | undefined;
}

function member(
  seen: Pick<TeamMember, "name" | "role" | "doing">,
  agent: AgentState | undefined,
  { request, plan }: Waits,
): TeamMember {
  const running = agent?.pending.findLast(({ started }) => started !== undefined);
  const call = running && { call: `${running.call.name} ${callTitle(running.call.name, running.call.input)}`.trim() };
  const isBusy = agent?.turn !== undefined || (agent?.queue.length ?? 0) > 0;
  const waitsFor: MemberWait = request
    ? { kind: "approval", id: request.requestId, title: `${request.tool} ${callTitle(request.tool, request.input)}` }
    : plan
      ? { kind: "plan", id: plan.requestId }
      : { kind: isBusy ? "nothing" : "message" };
  const since = request?.askedAt ?? plan?.at ?? running?.started?.at ?? agent?.turn?.startedAt;
  const last = agent?.lastTurn?.text;
  return { ...seen, ...call, waitsFor, ...(since !== undefined && { since }), ...(last && { last }) };
}

/** A folder that is in no repository has no worktrees. */
function noRepository(error: unknown): [] {
  if (isHoldfastError(error)) return [];
  throw error;
}
